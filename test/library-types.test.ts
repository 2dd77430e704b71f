import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const src = join(import.meta.dirname, "..", "src");

/** A declaration of the library: its file, its name there, and its text without the body of a function. */
interface Declaration {
  readonly file: string;
  readonly name: string;
  readonly text: string;
}

const text = (file: string): string => readFileSync(join(src, file), "utf8");

/** Exported declarations of a file by name; of a function its signature, of a class its fields. */
function declarationsOf(file: string): ReadonlyMap<string, Declaration> {
  const whole = text(file);
  const starts = whole.matchAll(
    /^export (?:declare )?(?:async )?(interface|type|class|function|const) (\w+)/gm,
  );
  return new Map(
    [...starts].map(({ index, 1: kind = "", 2: name = "" }) => {
      const rest = whole.slice(index);
      const end = { function: / \{\n(?! {2,}readonly)/, type: /;\n(?! )/, const: /;\n(?! )/ }[kind] ?? /\n\}/;
      return [name, { file, name, text: rest.slice(0, end.exec(rest)?.index) }];
    }),
  );
}

/** What the library exports: name -> declaration. */
function exported(): ReadonlyMap<string, Declaration> {
  const all = new Map<string, Declaration>();
  for (const [, names = "", file = ""] of text("index.ts").matchAll(
    /^export (?:type )?(\*|\{[^}]*\}) from "\.\/(.+)";/gm,
  )) {
    const declared = declarationsOf(file);
    const wanted =
      names === "*"
        ? [...declared.keys()]
        : [...names.matchAll(/(?:type )?(\w+)/g)].map(([, name = ""]) => name);
    for (const name of wanted) {
      const found = declared.get(name);
      if (found !== undefined) all.set(name, found);
    }
  }
  return all;
}

/** Names of types that a declaration mentions: imported ones, and those of its own file. */
function mentioned({ file, text: declaration }: Declaration): readonly string[] {
  const imports = [...text(file).matchAll(/^import (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm)].flatMap(
    ([, names = "", from = ""]) =>
      [...names.matchAll(/(?:type )?([A-Z]\w*)/g)].map(([, name = ""]) => ({
        name,
        from: join(dirname(file), from),
      })),
  );
  const own = [...declarationsOf(file).keys()]
    .filter((name) => /^[A-Z]/.test(name))
    .map((name) => ({ name, from: file }));
  const words = new Set(declaration.replaceAll(/\/\*[\s\S]*?\*\/|"[^"]*"/g, "").match(/\b[A-Z]\w*\b/g));
  return [...imports, ...own].flatMap(({ name }) => (words.has(name) ? [name] : []));
}

describe("the types of the library", () => {
  const all = exported();

  it("are found", () => {
    expect([...all.keys()]).toEqual(
      expect.arrayContaining(["apply", "drift", "formatPlan", "Plan", "StateDocument", "Json"]),
    );
    expect(all.size).toBeGreaterThan(40);
  });

  it("are exported, all that its own signatures mention", () => {
    const missing = [...all.values()].flatMap((declaration) =>
      mentioned(declaration).flatMap((name) =>
        all.has(name) ? [] : [`${declaration.name} mentions ${name}`],
      ),
    );
    expect(missing).toEqual([]);
  });
});
