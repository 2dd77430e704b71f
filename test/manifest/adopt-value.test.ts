import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adoptValue, editedText, isAdoptRefusal } from "../../src/manifest/adopt/adopt-value.ts";
import { fieldKeys } from "../../src/manifest/locate.ts";
import { parseManifest } from "../../src/manifest/parse.ts";
import { parseAddress } from "../../src/model/address.ts";
import { isObject, type Json } from "../../src/model/json.ts";
import { runs } from "../support/runs.ts";

interface Field {
  readonly address?: string;
  readonly path?: string;
  readonly value?: Json;
  readonly members?: number;
}

function adopt(texts: readonly string[], field: Field = {}): string {
  const sources = texts.map((text, at) => ({ path: `layer-${at}.yaml`, text }));
  const { layers } = parseManifest(sources);
  const address = parseAddress(field.address ?? "instances.orders");
  if (address === undefined) throw new Error("no address");
  const keys = fieldKeys(field.path ?? "config.description");
  const { value = "new text", members = 1 } = field;
  const result = adoptValue(layers, { address, keys, value, members });
  if (isAdoptRefusal(result)) {
    const { file = "", start } = result.where ?? {};
    return `refused at ${file}:${start?.line}: ${result.message}`;
  }
  return `${result.layer.file}\n${editedText(result)}`;
}

/** A manifest with `«` and `»` around the old text: the only part that may change. */
function edited(marked: string, text: string): string {
  return marked.replace(/«[^»]*»/, () => text);
}

const replacements: readonly (readonly [reason: string, marked: string, text: string, field?: Field])[] = [
  [
    "a plain text with comments and odd spaces around it",
    "# the shop\ninstances:\n   orders:   # the orders\n      config:\n         description:    «old text»   # by hand\n\n\n         name: orders\n",
    "new text",
  ],
  ["double quotes stay", 'instances: { orders: { config: { description: «"old"» } } }\n', '"new text"'],
  [
    "single quotes stay",
    "instances:\n  orders:\n    config:\n      description: «'it''s'»\n",
    "'that''s'",
    { value: "that's" },
  ],
  [
    "a text that would be read as something else gets quotes",
    "instances:\n  orders:\n    config:\n      description: «old»\n",
    '"true"',
    { value: "true" },
  ],
  [
    "a text that ends a flow map gets quotes",
    "instances: { orders: { config: { description: «old», name: x } } }\n",
    '"a, b }"',
    { value: "a, b }" },
  ],
  [
    "an expression in a live value is no expression",
    "instances:\n  orders:\n    config:\n      description: «old»\n",
    '"$${var.x} or $$${y}"',
    { value: "${var.x} or $${y}" },
  ],
  [
    "several lines in a plain field",
    "instances:\n  orders:\n    config:\n      description: «old»\n      name: x\n",
    '"a\\nb"',
    { value: "a\nb" },
  ],
  [
    "characters that cannot be seen are written as codes",
    "instances:\n  orders:\n    config:\n      description: «old»\n",
    '"\\u202eevil\\u001b[31m"',
    { value: "\u202eevil\u001b[31m" },
  ],
  [
    "Windows line ends",
    "instances:\r\n  orders:\r\n    config:\r\n      description: «old»  # x\r\n      name: x\r\n",
    "new text",
  ],
  [
    "a block scalar stays one, with its comment and its indentation",
    "instances:\n  orders:\n    config:\n      description: «| # long\n          old\n          text\n»      name: x\n",
    "|- # long\n          new\n\n          text\n",
    { value: "new\n\ntext" },
  ],
  [
    "a block scalar with Windows line ends",
    "instances:\r\n  orders:\r\n    config:\r\n      description: «|-\r\n        old\r\n»      name: x\r\n",
    "|-\r\n        new\r\n        text\r\n",
    { value: "new\ntext" },
  ],
  [
    "a folded text",
    "instances:\n  orders:\n    config:\n      description: «>-\n        old\n        text\n»      name: x\n",
    ">-\n        new text\n",
  ],
  [
    "a folded text that becomes several lines is quoted",
    "instances:\n  orders:\n    config:\n      description: «>-\n        old\n»      name: x\n",
    '"a\\nb"\n',
    { value: "a\nb" },
  ],
  [
    "a block scalar with blank lines that count",
    "instances:\n  orders:\n    config:\n      description: «|+\n        old\n\n\n»      name: x\n",
    "|-\n        new text\n",
  ],
  [
    "a number",
    "instances:\n  orders:\n    config: {graphDBCacheSize:   «25»,}\n",
    "50",
    { path: "config.graphDBCacheSize", value: 50 },
  ],
  ["quoted keys", "\"instances\":\n  'orders':\n    \"config\": {'description': «old»}\n", "new text"],
  [
    "an anchor that nobody repeats",
    "instances:\n  orders:\n    config:\n      description: &d «old»\n",
    "new text",
  ],
  [
    "an empty value",
    "instances:\n  orders:\n    config:\n      description:«»\n      name: x\n",
    " new text",
  ],
  ["a value of null", "instances:\n  orders:\n    config:\n      description: «~» # none\n", "new text"],
  [
    "a key beside the settings",
    "instances:\n  orders:\n    power: «running»\n",
    "stopped",
    { path: "power", value: "stopped" },
  ],
  [
    "a key with dots in it",
    "instances:\n  orders:\n    customTags: { a.b: «old» }\n",
    "new text",
    { path: "customTags.a.b" },
  ],
  [
    "a forEach with one resource",
    "instances:\n  orders:\n    forEach: [eu]\n    config: { description: «old» }\n",
    "new text",
    { address: 'instances.orders["eu"]' },
  ],
  [
    "a key that is missing, after the last one and its comment",
    "instances:\n  orders:\n    config:\n      name: x   # the name«»\n      # later\n\n  other: {}\n",
    "\n      description: new text",
  ],
  [
    "a key that is missing after a block scalar",
    "instances:\n  orders:\n    config:\n      name: |\n        x\n«»    power: running\n",
    "      description: new text\n",
  ],
  [
    "a key that is missing in a flow map",
    "instances: { orders: { config: { name: x«»,\n  } } }\n",
    ", description: new text",
  ],
  [
    "a key that is missing in an empty map",
    "instances: { orders: { config: {« »} } }\n",
    " description: new text ",
  ],
  [
    "a key that is missing with the map around it, in the step of the file",
    "instances:\n    orders:\n        tier: pro«»\n    other: {}\n",
    "\n        config:\n            description: new text",
  ],
  [
    "a map that is missing in a flow map",
    "instances:\n  orders: { tier: pro«» }\n",
    ", config: { description: new text }",
  ],
  [
    "a key that is missing in a file of JSON, which stays JSON",
    '{ "instances": { "orders": { "config": {« »} } } }\n',
    ' "description": "new text" ',
  ],
  [
    "a map that is missing in a file of JSON, which stays JSON",
    '{ "instances": { "orders": { "tier": "pro"«» } } }\n',
    ', "config": { "description": "new text" }',
  ],
  [
    "a number of a file of JSON, which becomes a text and stays JSON",
    '{ "instances": { "orders": { "config": { "description": «25» } } } }\n',
    '"new text"',
  ],
  [
    "a key that is missing at the end of a file without a line end",
    "instances:\n  orders:\n    config:\n      name: x«»",
    "\n      description: new text",
  ],
  [
    "a key that is missing, with Windows line ends",
    "instances:\r\n  orders:\r\n    config:\r\n      name: x«»\r\n",
    "\r\n      description: new text",
  ],
  [
    "a key of the defaults: only this resource gets its own",
    "defaults:\n  instances: { config: { description: d } }\ninstances:\n  orders:\n    config:\n      name: x«»\n",
    "\n      description: new text",
  ],
];

describe("a live value in a manifest", () => {
  it.each(replacements.map(([reason, marked, text, field = {}]) => ({ reason, marked, text, field })))(
    "$reason",
    ({ marked, text, field }) => {
      const before = marked.replace(/[«»]/g, "");
      expect(adopt([before], field)).toBe(`layer-0.yaml\n${edited(marked, text)}`);
    },
  );

  it("is written in the file that holds it", () => {
    const base = "instances:\n  orders:\n    config: { description: old, name: x }\n";
    const upper = "instances:\n  orders:\n    config: { name: y }\n";
    expect(adopt([base, upper])).toBe(`layer-0.yaml\n${base.replace("old", "new text")}`);
    const holds = upper.replace("y", "y, description: z");
    expect(adopt([base, holds])).toBe(`layer-1.yaml\n${holds.replace("z", "new text")}`);
  });

  it("is added in the uppermost file that has the block, since files below may serve others", () => {
    const base = "instances:\n  orders:\n    config: { name: x }\n";
    const upper = "instances:\n  orders:\n    power: running\n";
    const top = "name: shop\n";
    expect(adopt([base, upper, top])).toBe(
      `layer-1.yaml\n${upper}`.replace(/\n$/, "\n    config:\n      description: new text\n"),
    );
  });

  const refusals: readonly (readonly [reason: string, text: string, refused: RegExp, field?: Field])[] = [
    [
      "an expression, with the place of its variable",
      'variables:\n  d: { type: string, default: x }\ninstances:\n  orders:\n    config: { description: "${var.d}" }\n',
      /layer-0\.yaml:5: the value is made of \$\{var\.d\}, declared at layer-0\.yaml:2/,
    ],
    [
      "a text with an expression in it",
      'instances:\n  orders:\n    config:\n      description: "about ${each.key}"\n',
      /layer-0\.yaml:4: the value is made of \$\{each\.key\}/,
    ],
    [
      "a map that is an expression",
      "instances:\n  orders:\n    config: ${each.value}\n",
      /layer-0\.yaml:3: the value is made of \$\{each\.value\}/,
    ],
    [
      "one of several of a forEach",
      "instances:\n  orders:\n    forEach: [eu, us]\n    config: { description: old }\n",
      /layer-0\.yaml:3: instances\.orders is one block for 2 resources: .* instances\.orders\["eu"\] alone/,
      { address: 'instances.orders["eu"]', members: 2 },
    ],
    [
      "an alias",
      "x: &d old\ninstances:\n  orders:\n    config:\n      description: *d\n",
      /layer-0\.yaml:5: the value stands in a part that an alias repeats/,
    ],
    [
      "a value that an alias repeats",
      "instances:\n  orders:\n    config: &c\n      description: old\n  other:\n    config: *c\n",
      /layer-0\.yaml:4: the value stands in a part that an alias repeats/,
    ],
    [
      "a key that is missing in a part that an alias repeats",
      "instances:\n  orders:\n    config: &c\n      name: old\n  other:\n    config: *c\n",
      /the value stands in a part that an alias repeats/,
    ],
    [
      "a list",
      "instances:\n  orders:\n    config:\n      description: [a]\n",
      /layer-0\.yaml:4: the value cannot be written here/,
    ],
  ];
  it.each(refusals.map(([reason, text, refused, field = {}]) => ({ reason, text, refused, field })))(
    "is refused: $reason",
    ({ text, refused, field }) => {
      expect(adopt([text], field)).toMatch(refused);
    },
  );

  it("is read back as it is, whatever text it is, and nothing else changes", () => {
    const shapes = [
      "instances:\n  orders:\n    config:\n      description: old # c\n      name: x\n",
      'instances:\n  orders:\n    config: { description: "old", name: x }\n',
      "instances:\n  orders:\n    config:\n      description: |\n        old\n      name: x\n",
      "instances:\n  orders:\n    config:\n      description: 'old'\n      name: x\n",
      "instances:\n  orders:\n    config:\n      name: x\n",
      "instances: { orders: { config: { name: x } } }\n",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...shapes),
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string({ unit: fc.constantFrom(..."ab: #\n'\"{}[],&*-|>%@`$\\ ") }),
        ),
        (text, value) => {
          const written = adopt([text], { value }).replace(/^[^\n]*\n/, "");
          const read = parseManifest([{ path: "f", text: written }]).value;
          const expected = {
            instances: {
              orders: { config: { name: "x", description: value.replaceAll("${", () => "$${") } },
            },
          };
          expect(isObject(read) ? read : {}).toEqual(expected);
        },
      ),
      { numRuns: runs(100) },
    );
  });
});
