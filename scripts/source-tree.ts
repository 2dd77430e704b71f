/** A source file: its path from the root of the repository, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** The page of the tree: every source file in one line, folder by folder. */
export function treePage(sources: readonly Source[]): string {
  return `# The tree of src\n\nWritten by \`npm run emit\` from the first sentence of each file.\n\n${tree(sources)}\n`;
}

/** Files that say nothing of themselves: they have no doc comment. */
export function unsaid(sources: readonly Source[]): readonly string[] {
  return sources.filter((source) => summary(source) === undefined).map(({ path }) => path);
}

/** One line for each file, folder by folder: its path, and the first sentence of what it says it is. */
function tree(sources: readonly Source[]): string {
  const folders = Map.groupBy(sources, ({ path }) => path.slice(0, path.lastIndexOf("/")));
  const parts = [...folders].map(([folder, files]) => {
    const lines = files.map((file) => `- \`${file.path.slice(folder.length + 1)}\`: ${summary(file) ?? "?"}`);
    return `**${folder}/**\n\n${lines.join("\n")}`;
  });
  return parts.join("\n\n");
}

interface Said {
  readonly name: string;
  readonly isFunction: boolean;
  readonly text: string;
}

/** One sentence: the file's @module, or else what the export says that the file is named after, or the first comment. */
function summary({ path, text }: Source): string | undefined {
  const own = /^\/\*\*\s*\*?\s*@module((?:(?!\*\/)[\s\S])*)\*\//.exec(text)?.[1];
  if (own !== undefined) return firstSentence(plain(own));
  const subject = /([^/]+?)s?\.ts$/.exec(path)?.[1]?.replaceAll("-", "") ?? "";
  const all = exportsOf(text);
  const said =
    all.find(({ name }) => name.replace(/s$/, "") === subject) ??
    all.find(({ name }) => name.includes(subject)) ??
    all.find(({ isFunction }) => isFunction) ??
    all[0];
  const comment = said?.text ?? plain(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\//.exec(text)?.[1] ?? "");
  if (comment !== "") return firstSentence(comment);
  return subject === "index" ? "what the folder offers to the others" : undefined;
}

/** Exports that have a doc comment, their names in lower case. */
function exportsOf(text: string): readonly Said[] {
  const commented = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*\nexport (?:async )?(\w+)\*? ([{*]|\w+)/g;
  return [...text.matchAll(commented)].map(([, comment = "", word = "", name = ""]) => ({
    name: name.toLowerCase(),
    isFunction: word === "function",
    text: plain(comment),
  }));
}

function plain(comment: string): string {
  return comment
    .replace(/^\s*\*? ?/gm, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function firstSentence(text: string): string {
  const [sentence] = /^.*?[.](?=\s|$)/.exec(text) ?? [];
  return (sentence ?? text).replace(/[.:]$/, "");
}
