import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tiers } from "../src/fields/instance.ts";
import { operationNames } from "../src/hosting/profile/profile-schema.ts";
import { kinds } from "../src/kinds/index.ts";

const folder = join(import.meta.dirname, "..", "docs");

interface Row {
  /** Heading of its table. */
  readonly table: string;
  readonly name: string;
  readonly text: string;
  readonly tests: readonly { readonly file: string; readonly titles: readonly string[] }[];
}

/** The rows of the page, with every `[name](path): "title", "title"` in them. */
const rows: readonly Row[] = readFileSync(join(folder, "coverage.md"), "utf8")
  .split(/^## /m)
  .slice(1)
  .flatMap((part) => {
    const [table = "", ...lines] = part.split("\n");
    const body = lines.filter((line) => line.startsWith("|")).slice(2);
    return body.map((text) => {
      const links = [...text.matchAll(/\[[^\]]+\]\(([^)]+)\): ((?:"[^"]+"(?:, )?)+)/g)];
      const tests = links.map(([, file = "", titles = ""]) => ({
        file,
        titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title),
      }));
      return { table, name: text.split("|")[1]?.trim() ?? "", text, tests };
    });
  });

/** Sections of the specification. */
const sections = ["1", ...range(2, 7), "3", ...range(4, 8), ...range(5, 2), "6", "7", "8", "9"];

function range(section: number, last: number): readonly string[] {
  return Array.from({ length: last }, (_, at) => `${section}.${at + 1}`);
}

/** Each operation of a profile, as the page calls it. */
const operations: { readonly [operation: string]: string } = {
  "session.logout": "sign out",
  "instance.list-all": "list instances",
  "instance.start": "start, stop, restart",
  "instance.stop": "start, stop, restart",
  "instance.restart": "start, stop, restart",
  "instance.failover": "failover",
  "instance.backup": "backup",
  "instance.copy-snapshot": "copy-snapshot of an instance",
  "instance.snapshots": "list snapshots",
  "instance.list": "list instances",
  "account.create": "create cloud account",
  "account.list": "create cloud account",
  "account.get": "create cloud account",
  "account.delete": "delete cloud account",
  "account.describe": "describe account configuration",
  "network.list": "list networks",
  "snapshot.list": "list snapshots",
  "user.list": "list users",
  "plans.list": "list service plans",
  "subscriptions.list": "list subscriptions",
};

function named(table: string): readonly string[] {
  return rows.filter((row) => row.table === table).map(({ name }) => name);
}

describe("the table of what is covered", () => {
  it.each(rows)("$table: $name is shown by tests that exist", ({ text, tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    // Each link of the row was understood.
    expect(tests).toHaveLength([...text.matchAll(/\]\(/g)].length);
    for (const { file, titles } of tests) {
      const path = join(folder, file);
      expect(existsSync(path), file).toBe(true);
      const source =
        readFileSync(path, "utf8") +
        (file.includes("/conformance/") ? readFileSync(join(path, "..", "cases.ts"), "utf8") : "");
      expect(titles.filter((title) => !source.includes(title))).toEqual([]);
    }
  });

  it("has every section of the specification", () => {
    expect([...new Set(named("Sections"))]).toEqual(sections);
  });

  it("has every tier, every cloud and every kind", () => {
    expect(named("Tiers")).toEqual(tiers);
    expect(named("Clouds")).toEqual(["aws", "gcp", "azure", "oci"]);
    expect([...named("Kinds")].sort()).toEqual(kinds.all.map(({ name }) => name).sort());
  });

  it.each(operationNames)("has the operation %s", (operation) => {
    const [subject = "", verb = ""] = operation.split(".");
    expect(named("Operations")).toContain(operations[operation] ?? `${verb} ${subject}`);
  });
});
