import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");
const types = join(root, "dist", "types");

/** Writes the declarations of the library to `dist/types/`. */
rmSync(types, { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.types.json"], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(1);

// tsc leaves `./x.ts` in declarations; `./x.js` is what every reader of a package takes.
for (const file of globSync("**/*.d.ts", { cwd: types })) {
  const path = join(types, file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/(from |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"'));
}
