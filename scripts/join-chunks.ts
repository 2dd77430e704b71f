import { basename, dirname, join, relative } from "node:path";
import { type BuildOptions, type BuildResult, build, type OutputFile } from "esbuild";

type Built = BuildResult<{ metafile: true; write: false }>;

const root = join(import.meta.dirname, "..");

/** Bundled CommonJS packages ask for Node's own modules. */
const banner: string =
  'const require=process.getBuiltinModule("node:module").createRequire(import.meta.url);';

/** Options of every build of a bundle. */
export const ofBundles: BuildOptions & { readonly write: false } = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
  target: "node22.19",
  // Half the bytes to read, hash and compile; names are kept, for errors.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: "none",
  banner: { js: banner },
};

/** What is joined into one file, by the commands that need it: their files in `src/commands`. Each file is without what an earlier one has. */
const joined: readonly (readonly [name: string, commands: readonly string[]])[] = [
  ["start", []],
  ["manifest", ["validate"]],
  ["usual", ["plan-command", "apply", "drift-command", "import-all"]],
];

/**
 * Joins the chunks of a build that each start needs, those that read a manifest besides, and those that the commands need besides that are
 * run most, into one file each: to find, read and link a hundred small files takes longer than all that they do. Commands and what else is
 * loaded later stay files of their own.
 */
export async function joinChunks({ outputFiles, metafile }: Built): Promise<readonly OutputFile[]> {
  const texts = new Map(outputFiles.map(({ path, text }) => [relative(root, path), text]));
  const reached = (from: readonly string[]): Set<string> => {
    const found = new Set<string>(from);
    for (const path of found)
      for (const { kind, path: next } of metafile.outputs[path]?.imports ?? [])
        if (kind === "import-statement" && texts.has(next)) found.add(next);
    return found;
  };
  const isChunk = (path: string): boolean => basename(path).startsWith("chunk-");
  const taken = new Set<string>();
  const groups = joined.map(([name, commands]) => {
    const files = [...texts.keys()].filter((path) =>
      commands.some((command) => basename(path).startsWith(`${command}-`)),
    );
    const chunks = [...reached(["dist/cli.js", ...files])].filter(
      (path) => isChunk(path) && !taken.has(path),
    );
    for (const chunk of chunks) taken.add(chunk);
    return [name, chunks] as const;
  });
  for (const [name, chunks] of groups) {
    const contents = chunks.map((chunk, at) => exportsOf(chunk, at, metafile)).join("\n");
    const known = new Map(
      chunks.map((chunk) => [join(root, chunk), (texts.get(chunk) ?? "").replace(banner, "")]),
    );
    const {
      outputFiles: [file],
    } = await build({
      ...ofBundles,
      stdin: { contents, resolveDir: root },
      outdir: "dist/chunks",
      entryNames: `${name}-[hash]`,
      plugins: [
        {
          name: "chunks",
          setup({ onLoad, onResolve }) {
            onResolve({ filter: /^\./ }, ({ path: wanted, resolveDir, kind }) => {
              const target = join(resolveDir, wanted);
              return kind !== "dynamic-import" && known.has(target)
                ? { path: target, namespace: "chunk" }
                : { external: true, path: wanted };
            });
            onLoad({ filter: /./, namespace: "chunk" }, (args) => ({
              contents: known.get(args.path) ?? "",
              resolveDir: dirname(args.path),
            }));
          },
        },
      ],
    });
    if (file === undefined) throw new Error(`${name} was not built`);
    const path = relative(root, file.path);
    for (const chunk of chunks) texts.delete(chunk);
    texts.set(path, file.text);
    for (const [importer, text] of texts) texts.set(importer, fromJoined(text, importer, path, chunks));
  }
  return [...texts].map(([path, text]) => ({
    ...{ path: join(root, path), contents: Buffer.from(text), text },
    hash: "",
  }));
}

/** Exports everything of a chunk under names of its own. */
function exportsOf(chunk: string, at: number, metafile: Built["metafile"]): string {
  const names = metafile.outputs[chunk]?.exports ?? [];
  if (names.length === 0) return `import "./${chunk}";`;
  return `export { ${names.map((name) => `${name} as ${name}$${at}`).join(", ")} } from "./${chunk}";`;
}

/** A file with the joined one in place of the chunks that it imports. */
function fromJoined(text: string, importer: string, path: string, chunks: readonly string[]): string {
  return text.replace(
    /\bimport(?:\{([^}]*)\}from)?"(\.[^"]*)"/g,
    (whole, names: string | undefined, from: string) => {
      const at = chunks.indexOf(join(dirname(importer), from));
      if (at < 0) return whole;
      const target = `./${relative(dirname(importer), path)}`;
      if (names === undefined) return `import"${target}"`;
      const renamed = names.split(",").map((each) => {
        const [name = "", local = name] = each.split(" as ");
        return `${name}$${at} as ${local}`;
      });
      return `import{${renamed.join(",")}}from"${target}"`;
    },
  );
}
