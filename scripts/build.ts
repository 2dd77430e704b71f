import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { type BuildResult, build } from "esbuild";
import { directBuiltins } from "./direct-builtins.ts";
import { joinChunks, ofBundles } from "./join-chunks.ts";
import { lateUnicode } from "./late-unicode.ts";
import { leanUndici } from "./lean-undici.ts";
import { bundledPackages, noticesOf } from "./notices.ts";
import { quietYaml } from "./quiet-yaml.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

/**
 * Writes `dist/`: the programs and the library as bundles that share chunks, and the licences of what was bundled
 * (decision 0007). A file that would not change is left alone, and files of an earlier build go last, so that a program
 * that runs from `dist/` meanwhile is not disturbed.
 */
const result = await build({
  ...ofBundles,
  entryPoints: ["src/cli.ts", "src/index.ts", "src/platform/main.ts", "src/controller/runs/thread.ts"],
  outdir: "dist",
  outbase: "src",
  chunkNames: "chunks/[name]-[hash]",
  splitting: true,
  plugins: [directBuiltins, leanUndici, lateUnicode, quietYaml],
  metafile: true,
  logLevel: "warning",
}).catch(() => process.exit(1)); // esbuild has said why.

writeNotices(result);
const files = await joinChunks(result);
// The library refuses an old Node before anything else of it is evaluated.
const checked = Buffer.from('import"../bin/check-node.js";\n');
for (const { path, contents } of files)
  writeChanged(path, path === join(dist, "index.js") ? Buffer.concat([checked, contents]) : contents);
const kept = new Set(files.map((file) => file.path));
for (const file of globSync("**/*.js", { cwd: dist })) {
  const path = join(dist, file);
  if (!kept.has(path)) rmSync(path);
}

function writeNotices({ metafile }: BuildResult<{ metafile: true }>): void {
  const path = join(dist, "THIRD-PARTY-NOTICES.txt");
  const inputs = Object.keys(metafile.inputs);
  const folders = bundledPackages([...inputs, ...inputs.flatMap(emittedFrom)]);
  writeChanged(path, Buffer.from(noticesOf(root, folders)));
}

/** What an emitted file was bundled from, by the comments that esbuild leaves in it. */
function emittedFrom(input: string): readonly string[] {
  if (!input.includes(".generated.")) return [];
  const text = readFileSync(join(root, input), "utf8");
  return [...text.matchAll(/^\/\/ (node_modules\/\S+)$/gm)].map((match) => match[1] ?? "");
}

function writeChanged(path: string, contents: Uint8Array): void {
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}
