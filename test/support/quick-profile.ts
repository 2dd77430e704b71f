import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The default profile for a service that shows everything within a second: for tests that wait for absences. */
export const quickProfile: string = readFileSync(
  join(import.meta.dirname, "../../profiles/default.yaml"),
  "utf8",
)
  .replace("name: default", "name: quick")
  .replace("settle: 5s", "settle: 300ms")
  .replace("listLag: 30s", "listLag: 1s")
  .replace("poll: { first: 200ms, longest: 5s }", "poll: { first: 50ms, longest: 300ms }");
