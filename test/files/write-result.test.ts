import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

it("leaves no new file behind that it could not write whole", () => {
  const folder = temporaryFolder("results");
  const module = new URL("../../src/files/write-result.ts", import.meta.url).href;
  const program = `
    const { writeResult } = await import(${JSON.stringify(module)});
    const writer = { waiting() {}, print() {} };
    await writeResult(${JSON.stringify(join(folder, "report.html"))}, "x".repeat(100_000), writer).catch(({ code }) => console.log(code));`;
  // No file of this shell and its processes may be larger than 8 KB; what exceeds it is an error and not a signal.
  const shell = `trap "" XFSZ; ulimit -f 8; exec "$0" --input-type=module -e "$1"`;
  const { stdout } = spawnSync("bash", ["-c", shell, process.execPath, program], { encoding: "utf8" });
  expect(stdout.trim()).toBe("EFBIG");
  expect(readdirSync(folder)).toEqual([]);
});
