import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { pages, sources } from "../scripts/pages.ts";
import { unsaid } from "../scripts/source-tree.ts";
import { operations } from "../src/hosting/operations.ts";
import { kinds } from "../src/kinds/index.ts";
import { tiers } from "../src/model/service.ts";
import { mutations } from "./simulation/mutations.ts";

const root = join(import.meta.dirname, "..");
const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root }).sort();

function text(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

describe("generated pages", () => {
  it.each(Object.entries(pages()))("%s is fresh (npm run emit)", (path, page) => {
    expect(text(path)).toBe(page);
  });

  it("finds something said of every source file", () => {
    expect(sources().length).toBeGreaterThan(0);
    expect(unsaid(sources())).toEqual([]);
  });
});

describe("links", () => {
  it.each(documents)("%s leads to files that exist", (path) => {
    const links = [...text(path).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)/g)].map(
      (match) => match[1] ?? "",
    );
    const missing = links.filter(
      (link) => globSync(posix.join(posix.dirname(path), link), { cwd: root }).length === 0,
    );
    expect(missing).toEqual([]);
  });
});

describe("the engine's two documents", () => {
  it.each(["docs/life-of-a-run.md", "docs/consistency.md"])(
    "%s names folders and files that exist",
    (path) => {
      const named = [...text(path).matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map((match) => match[1] ?? "");
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => globSync(name, { cwd: root }).length === 0)).toEqual([]);
    },
  );

  it("name the functions and the files that their links lead to", () => {
    const rows = [...text("docs/consistency.md").matchAll(/`(\w+)` in \[`([^`]+)`\]\(\.\.\/([^)]+)\)/g)];
    expect(rows.length).toBeGreaterThan(15);
    const wrong = rows.filter(
      ([, name = "", shown = "", path = ""]) =>
        path !== `src/${shown}` || !new RegExp(`(export )?(async )?function ${name}\\b`).test(text(path)),
    );
    expect(wrong.map(([row]) => row)).toEqual([]);
  });

  it("lead one field through twenty files at most, each with functions that it has", () => {
    const [, walk = ""] = /## One field, file by file\n(.*?)\n## /s.exec(text("docs/life-of-a-run.md")) ?? [];
    const places = [...walk.matchAll(/((?:`\w+`(?:, )?)+) in \[`[^`]+`\]\(\.\.\/([^)]+)\)/g)];
    expect(places.length).toBeGreaterThan(20);
    expect(new Set(places.map(([, , path]) => path)).size).toBeLessThanOrEqual(20);
    const wrong = places.flatMap(([, names = "", path = ""]) =>
      [...names.matchAll(/\w+/g)].filter(
        ([name]) =>
          !new RegExp(`\\b(function|const|interface) ${name}\\b|^ +${name}: \\{`, "m").test(text(path)),
      ),
    );
    expect(wrong.map(([name]) => name)).toEqual([]);
  });

  it("name mutations that the simulator has", () => {
    const cells = [...text("docs/consistency.md").matchAll(/\| `([a-z-]+)` \|$/gm)].map((match) => match[1]);
    const known = new Set(mutations.map(({ name }) => name));
    expect(cells.length).toBeGreaterThan(15);
    expect(cells.filter((name) => name === undefined || !known.has(name))).toEqual([]);
  });
});

describe("docs/coverage.md", () => {
  const covered = text("docs/coverage.md").split(/^## /m);
  /** Subjects in the first column of the table under a heading. */
  const subjects = (heading: string): readonly string[] => {
    const table = covered.find((part) => part.startsWith(`${heading}\n`)) ?? "";
    const cells = [...table.matchAll(/^\| ([^|]+) \|.*\]\(\.\.\/test\//gm)].map((match) => match[1] ?? "");
    return cells.flatMap((cell) => cell.replaceAll("`", "").split(", "));
  };
  const range = (section: number, last: number): readonly string[] =>
    Array.from({ length: last }, (_, at) => `${section}.${at + 1}`);

  it("has tests for every section of the specification", () => {
    const sections = ["1", ...range(2, 7), "3", ...range(4, 8), ...range(5, 2), "6", "7", "8", "9"];
    expect([...new Set(subjects("Sections"))]).toEqual(sections);
  });

  it("has tests for every tier, cloud and kind", () => {
    const clouds = ["aws", "gcp", "azure", "oci"];
    const expected = [...tiers, ...clouds, ...kinds.all.map(({ name }) => name)];
    expect([...subjects("Tiers, clouds and kinds")].sort()).toEqual(expected.sort());
  });

  it("has tests for every operation of a profile", () => {
    const expected = [...operations.keys(), "session.signin", "session.refresh"];
    expect([...subjects("Operations")].sort()).toEqual(expected.sort());
  });
});

describe("decisions", () => {
  const decisions = documents.filter((path) => path.startsWith("docs/decisions/"));

  it("have a number each", () => {
    const numbers = decisions.map((path) => /(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1]);
    expect(numbers).not.toContain(undefined);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it.each(decisions)("%s says context, choice, consequences and alternatives in at most 40 lines", (path) => {
    const page = text(path);
    expect(page.split("\n").length - 1).toBeLessThanOrEqual(40);
    for (const part of ["Context", "Choice", "Consequences", "Alternatives"])
      expect(page).toContain(`## ${part}\n`);
  });

  it("name every dependency", () => {
    const { devDependencies }: { devDependencies: object } = JSON.parse(text("package.json"));
    const page = text("docs/dependencies.md");
    expect(Object.keys(devDependencies).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
