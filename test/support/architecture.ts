import { type Edge, importsOf, type SourceFile } from "./imports.ts";

/** What one folder of src may do. A row is the design's "direction of imports". */
export interface FolderRule {
  /** Our own folders, or single files, that it may import beside itself. */
  readonly may: readonly string[];
  readonly packages?: readonly string[];
  /** Node's modules by name, or all of them. */
  readonly node?: readonly string[] | "any";
  /** Groups of Node's modules: of each group one file of the folder may import, and no other. */
  readonly oneFile?: readonly (readonly string[])[];
  /** What its code must not touch, and why. */
  readonly never?: readonly Ban[];
}

export interface Ban {
  readonly what: string;
  readonly pattern: RegExp;
}

export type FolderRules = { readonly [folder: string]: FolderRule };

/** Folder of a file in src; a file that stands in src itself is its own folder. */
export function folderOf(path: string): string {
  const [, first = "", second] = path.split("/");
  return second === undefined ? first : first;
}

/** Imports that the rules do not allow, one sentence each. */
export function forbiddenImports(files: readonly SourceFile[], rules: FolderRules): readonly string[] {
  const taken = new Map<string, string>();
  return files.flatMap(importsOf).flatMap((edge) => {
    const folder = folderOf(edge.from);
    const rule = rules[folder];
    if (rule === undefined) return [`${at(edge)}: ${folder} has no row in the table`];
    const reason = refusal(edge, folder, rule, taken);
    return reason === undefined ? [] : [`${at(edge)}: ${reason}`];
  });
}

function refusal(
  edge: Edge,
  folder: string,
  rule: FolderRule,
  taken: Map<string, string>,
): string | undefined {
  if (edge.is === "package") {
    return rule.packages?.includes(edge.to) ? undefined : `${folder} may not use the package ${edge.to}`;
  }
  if (edge.is === "node") return nodeRefusal(edge, folder, rule, taken);
  if (!edge.to.startsWith("src/"))
    return edge.to === "package.json" ? undefined : `src may not import ${edge.to}`;
  const other = folderOf(edge.to);
  if (other === folder || rule.may.includes(other) || rule.may.includes(edge.to.slice("src/".length))) {
    return undefined;
  }
  return `${folder} may not import ${other}`;
}

/** Imports between the rooms of one folder that the table does not allow. A file that stands in the folder itself is free. */
export function forbiddenRooms(
  files: readonly SourceFile[],
  folder: string,
  rooms: { readonly [room: string]: readonly string[] },
): readonly string[] {
  const start = `src/${folder}/`;
  const roomOf = (path: string): string => path.slice(start.length).split("/")[0] ?? "";
  return files.flatMap(importsOf).flatMap((edge) => {
    const [from, to] = [roomOf(edge.from), roomOf(edge.to)];
    if (!edge.from.startsWith(start) || !edge.to.startsWith(start) || from === to || from.endsWith(".ts"))
      return [];
    if (rooms[from] === undefined) return [`${at(edge)}: ${folder}/${from} has no row in the table`];
    return rooms[from].includes(to) ? [] : [`${at(edge)}: ${folder}/${from} may not import ${to}`];
  });
}

function nodeRefusal(
  edge: Edge,
  folder: string,
  rule: FolderRule,
  taken: Map<string, string>,
): string | undefined {
  if (rule.node === "any" || rule.node?.includes(edge.to)) return undefined;
  const group = rule.oneFile?.find((modules) => modules.includes(edge.to));
  if (group !== undefined) {
    const key = `${folder} ${group.join()}`;
    const holder = taken.get(key) ?? edge.from;
    taken.set(key, holder);
    return holder === edge.from
      ? undefined
      : `only one file of ${folder} may import ${edge.to}: ${holder} does`;
  }
  return `${folder} may not import ${edge.to}`;
}

/** Code that touches what its folder must not. Comments do not count. */
export function forbiddenCode(files: readonly SourceFile[], rules: FolderRules): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
    const bans = rules[folderOf(path)]?.never ?? [];
    return bans.flatMap(({ what, pattern }) => (pattern.test(code) ? [`${path}: ${what}`] : []));
  });
}

/** Kinds that import each other. A kind's files are those that its name begins. */
export function kindsThatMeet(files: readonly SourceFile[], kinds: readonly string[]): readonly string[] {
  const kindOf = (path: string): string | undefined =>
    kinds.find((kind) => new RegExp(`^src/kinds/${kind}(-[a-z-]+)?\\.ts$`).test(path));
  return files.flatMap(importsOf).flatMap((edge) => {
    const [one, other] = [kindOf(edge.from), kindOf(edge.to)];
    return one === undefined || other === undefined || one === other
      ? []
      : [`${at(edge)}: ${one} imports ${other}`];
  });
}

/** Lines with a word that the place must not know. */
export function forbiddenWords(files: readonly SourceFile[], word: RegExp): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) => (word.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}

/** Files of more lines than the limit, without those that have a reason. */
export function tooLong(
  files: readonly SourceFile[],
  limit: number,
  excused: readonly string[],
): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.split("\n").length - 1;
    return lines > limit && !excused.includes(path) ? [`${path}: ${lines} lines`] : [];
  });
}

/** Folders whose name says nothing. */
export function emptyNames(paths: readonly string[]): readonly string[] {
  const empty = new Set(["utils", "util", "helpers", "helper", "common", "shared", "lib", "misc", "core"]);
  return paths.filter((path) =>
    path
      .split("/")
      .slice(0, -1)
      .some((part) => empty.has(part)),
  );
}

function at(edge: Edge): string {
  return `${edge.from}:${edge.line}`;
}
