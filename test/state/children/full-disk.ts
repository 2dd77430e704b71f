/** Runs under a limit of file size: writes a state that fits, one that does not, and again one that does. */
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { isGraphformError } from "../../../src/model/errors.ts";
import { createFileStore } from "../../../src/state/file-store.ts";
import { sampleState } from "../samples.ts";

const path = process.argv[2] ?? "";
const store = createFileStore({ path, name: "shop" });
const small = sampleState();
await store.write(small);
try {
  await store.write({ ...sampleState(1000), serial: 2 });
} catch (error) {
  if (!isGraphformError(error)) throw error;
  const { code, message, hint } = error;
  const stored = (await createFileStore({ path, name: "shop" }).read())?.serial;
  const left = readdirSync(dirname(path)).filter((name) => !name.endsWith(".backup"));
  await store.write({ ...small, serial: 3 });
  const found = (await createFileStore({ path, name: "shop" }).read())?.serial;
  process.stdout.write(JSON.stringify({ code, message, hint, stored, left, then: found }));
}
