import { expect, it } from "vitest";
import { parseAnnouncement, profileHint } from "../../src/commands/platform/up.ts";

const said = { url: "http://127.0.0.1:4000", usersUrl: "http://127.0.0.1:4000", pid: 7, engine: {} };

it.each([
  [
    "a service's own profile is said to be reached by its URL",
    { profile: "falkordb-cloud" },
    "falkordb-cloud",
  ],
  ["the default profile needs no word: it is found", {}, ""],
])("a platform of %s", (_, spoken, profile) => {
  const ready = parseAnnouncement(JSON.stringify({ ...said, ...spoken }));
  const text = ready === undefined ? "no announcement" : profileHint(ready);
  expect(text === "").toBe(profile === "");
  if (profile !== "")
    expect(text).toMatch(/profile falkordb-cloud .*platformUrl: http:\/\/127\.0\.0\.1:4000/);
});
