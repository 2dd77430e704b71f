import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { pages, sources } from "../scripts/pages.ts";
import { unsaid } from "../scripts/source-tree.ts";
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

  it("name mutations that the simulator has", () => {
    const cells = [...text("docs/consistency.md").matchAll(/\| `([a-z-]+)` \|$/gm)].map((match) => match[1]);
    const known = new Set(mutations.map(({ name }) => name));
    expect(cells.length).toBeGreaterThan(15);
    expect(cells.filter((name) => name === undefined || !known.has(name))).toEqual([]);
  });
});

describe("decisions", () => {
  const decisions = documents.filter((path) => path.startsWith("docs/decisions/"));

  it("are numbered without a gap, and listed nowhere twice", () => {
    const numbers = decisions.map((path) => Number(/(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1]));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
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
