/** Writes a state as somebody who is not root, and prints the refusal. */
import { isGraphformError } from "../../../src/model/errors.ts";
import { createFileStore } from "../../../src/state/file-store.ts";
import { sampleState } from "../samples.ts";

if (process.getuid?.() === 0) process.setuid?.(65_534);
try {
  await createFileStore({ path: process.argv[2] ?? "", name: "shop" }).write(sampleState());
} catch (error) {
  if (!isGraphformError(error)) throw error;
  process.stdout.write(`${error.code} ${error.message}\n`);
}
