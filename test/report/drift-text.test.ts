import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { driftSchema } from "../../scripts/report-schemas.ts";
import type { DriftReport } from "../../src/model/drift.ts";
import { jsonText, makePalette } from "../../src/report/typeset.ts";
import { name, orders, whole } from "./drift-parts.ts";
import { driftJson, driftMarkdown, driftText } from "./rendered.ts";
import { words } from "./words.ts";

function textOf(report: DriftReport, width = 100, verbose = false): string {
  return driftText(report, words, { palette: makePalette(false), width, verbose });
}

describe("a drift report as text", () => {
  it("has the worst first, each thing with its place, its source and its time, the ways out, and what was seen", () => {
    expect(textOf(whole)).toBe(`Drift of shop

Deleted outside (1)

  - instances.cache["eu"] (instance-1)                                              graphform.yaml:7
    instance-2 is gone; last seen right 2026-03-02 14:03 UTC

Changed outside (1)

  ! instances.orders (instance-1)                                                   graphform.yaml:7
    2 fields were changed outside; last seen right 2026-03-02 14:03 UTC
    2026-03-04 09:12 UTC kim@example.com: instance modified
    ! config.description  "orders" → "orders-2" (echoed back)  # upper.yaml:3, declared "third"
    ! config.name         "orders" → "orders-2" (echoed back)  # line 11

Not applied yet (1) · declared, not applied: no drift

  ~ users.reader (instance-1)                                                       graphform.yaml:7
    1 field differs
    ~ password  (sensitive) → (sensitive)  # line 11

Not declared (1)

  ? instance instance-9 "somebody's"
    way out: declare it and bind it with graphform import ADDRESS ID, or delete it at the service

Way out
  graphform plan shows what putting it back takes; graphform apply does it
  graphform drift --adopt instances.orders.config.description writes the live value into the
  manifest
  deleted, and that is meant: take its entry out of forEach, or list the address under removed

Checked   5 declared, 3 checked, 1 skipped, 1 unmanaged
          values: 2 read from the database, 10 read from the service, 4 echoed back, 7 remembered
          not checked: instances.new: does not exist yet
          not at rest: instances.slow: still DEPLOYING; look again when it is
Signs     (echoed back) the service repeats what it was last sent

Also: 1 resource with changes that are not applied yet, 2 differences that do not matter
(--verbose).
Drift: 2 resources changed outside, 1 not declared. 16 of 23 values were seen; 7 are only remembered
from the last apply.
`);
  });

  it("offers no adopting of what was set by hand and is fixed at creation, and names the block where there is one", () => {
    const gone = { ...orders, address: "instances.gone", what: "deleted", fields: [] } as const;
    const fixed = { ...orders, fields: [{ ...name, source: "probed", fixed: true }] } as const;
    const text = textOf({ ...whole, resources: [gone, fixed] });
    expect(text).not.toContain("--adopt");
    expect(text).toContain("deleted, and that is meant: remove the block, or list");
    expect(text).not.toContain("forEach");
  });

  it("leads on from what has failed, once for equal failures, and offers no adopting of it", () => {
    const failed = ["a", "b"].map((key): DriftReport["resources"][number] => ({
      ...orders,
      ...{ address: `instances.${key}`, id: `instance-${key}`, what: "failed", events: [] },
      ...{ reason: "the service says FAILED: no room", fields: [name] },
      waysOn: `graphform snapshot create instances.${key} saves it; ask about instance-${key}`,
    }));
    const report = { ...whole, resources: failed };
    const text = textOf(report);
    expect(text).toContain("Failed (2)");
    expect(text).toContain("      way out: graphform snapshot create ADDRESS saves it; ask about ID\n");
    expect(text).toContain("graphform plan shows what putting it back takes");
    expect(text).not.toContain("--adopt");
    expect(driftMarkdown(report, words)).toContain("! way out: graphform snapshot create ADDRESS saves it");
  });

  it("says how many databases were asked and how many logins tried, of all, each apart", () => {
    const notProbed = [
      { address: "instances.new", reason: "not running" },
      { address: "users.reader", reason: "not running", login: true as const },
    ];
    const engines = { "4.14.1": 2 };
    const asked = { ...whole, census: { ...whole.census, probed: 2, logins: 3, notProbed, engines } };
    expect(textOf(asked)).toContain(
      `          databases: 2 of 3 asked; logins of users: 3 of 4 tried
          not asked: instances.new, users.reader: not running
          access rules of 4 users: compared with those that the service keeps; not checked in the
          database, which shows them to no user
`,
    );
    const json = driftJson(asked, words);
    expect(json).toMatchObject({
      census: {
        probed: 2,
        databases: { asked: 2, all: 3 },
        logins: { asked: 3, all: 4 },
        not_probed: notProbed.map(({ login = false, ...entry }) => ({ ...entry, login, failed: false })),
      },
    });
    expect(new Ajv({ allowUnionTypes: true }).compile(driftSchema)(json)).toBe(true);
  });

  it("tells databases that gave no answer from those that there was no reason to ask, each with its way out", () => {
    const silent = {
      address: "instances.a",
      reason: "it did not answer in time",
      wayOut: "check the firewall",
      failed: true,
    } as const;
    const more = ["b", "c", "d", "e"].map((name) => ({ ...silent, address: `instances.${name}` }));
    const login = { ...silent, address: "users.a", login: true } as const;
    const notProbed = [silent, ...more, login, { address: "instances.f", reason: "not running" }];
    const unread = { address: "instances.c", reason: "instance.describe: 403", failed: true } as const;
    const census = { ...whole.census, probed: 2, notProbed, notChecked: [unread] };
    const partial: DriftReport = { ...whole, census, complete: false };
    const text = textOf(partial);
    expect(text.replace(/\s+/g, " ")).toContain(
      "databases: 2 of 8 asked; logins of users: 0 of 1 tried" +
        " no answer from instances.a, instances.b, instances.c and 3 more: it did not answer in time (check the firewall)" +
        " not asked: instances.f: not running",
    );
    expect(text).toContain("One thing could not be read: this proves nothing about it (exit code 1).");
    expect(driftJson(partial, words)).toMatchObject({
      complete: false,
      census: {
        not_probed: [
          ...new Array(6).fill({ failed: true, way_out: "check the firewall" }),
          { address: "instances.f", failed: false },
        ],
        not_checked: [{ address: "instances.c", failed: true }],
      },
    });
    const page = driftMarkdown(partial, words);
    expect(page).toContain(
      "Incomplete: 1 resource or list could not be read; 5 databases and 1 login gave no answer.",
    );
    expect(page).toContain("- `databases: 2 of 8 asked; logins of users: 0 of 1 tried`");
  });

  it("says that no running database was asked where that was asked for", () => {
    const notProbed = [{ address: "instances.new", reason: "--no-probe" }];
    const silent = { ...whole, census: { ...whole.census, probed: 0, notProbed } };
    expect(textOf(silent)).toContain("          databases: none of 1 asked (--no-probe)\n");
    expect(driftJson(silent, words)).toMatchObject({ census: { probed: 0, not_probed: notProbed } });
  });

  it("lists what does not matter where that is asked for", () => {
    const text = textOf(whole, 100, true);
    expect(text).toMatch(/[=] config\.maxMemory .*\n.*the same value in another spelling/);
    expect(text).toMatch(/~ endpoint +"a:1" → "b:1"/);
  });

  it("fits 60 columns but for words that are longer", () => {
    const long = textOf(whole, 60)
      .split("\n")
      .filter((line) => line.length > 60);
    expect(long.filter((line) => !line.includes("--adopt"))).toEqual([]);
  });

  it("lets nothing of the service or the manifest control the terminal, and shows no secret", () => {
    const evil = "\u001b[31m\u202e\n::error::";
    const report = {
      ...whole,
      name: evil,
      resources: [
        {
          ...orders,
          id: evil,
          reason: evil,
          fields: [{ ...name, seen: evil, path: evil }],
          events: [{ time: evil, message: evil, user: evil }],
        },
      ],
      unmanaged: [{ kind: evil, id: evil, name: evil }],
      census: { ...whole.census, notChecked: [{ address: evil, reason: evil }] },
    };
    const text = textOf(report, 100, true);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]|^::error/m);
    expect(textOf(whole, 100, true)).not.toContain("hunter2");
  });
});

describe("a drift report as JSON", () => {
  const validate = new Ajv({ allowUnionTypes: true }).compile(driftSchema);

  it("follows its schema, has sorted keys, and no secret", () => {
    for (const report of [whole, { ...whole, resources: [], outputs: [], complete: false }]) {
      const json = driftJson(report, words);
      expect(validate(json) ? [] : validate.errors).toEqual([]);
      expect(jsonText(json)).not.toContain("hunter2");
      expect(Object.keys(JSON.parse(jsonText(json)))).toEqual(Object.keys(json).sort());
    }
  });

  it("that says something else does not follow it", () => {
    expect(validate({ ...driftJson(whole, words), extra: 1 })).toBe(false);
    expect(validate({ ...driftJson(whole, words), errored: true })).toBe(false);
  });
});
