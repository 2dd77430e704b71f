import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type Ban,
  emptyNames,
  type FolderRules,
  folderOf,
  forbiddenCode,
  forbiddenImports,
  forbiddenRooms,
  forbiddenWords,
  kindsThatMeet,
  tooLong,
} from "./support/architecture.ts";
import { importsOf, type SourceFile } from "./support/imports.ts";

const root = join(import.meta.dirname, "..");
const src = read("src/**/*.ts").filter(({ path }) => !path.includes(".generated."));

const clock: Ban = {
  what: "reads the clock",
  pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\b|\bhrtime\b/,
};
const chance: Ban = {
  what: "asks for chance",
  pattern: /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bcrypto\./,
};
const print: Ban = { what: "prints", pattern: /\bconsole\b|\bprocess\.std(out|err)\b/ };
const world: Ban = { what: "reaches for the process", pattern: /\bprocess\b/ };
const network: Ban = { what: "uses the network", pattern: /\bfetch\s*\(|\bWebSocket\b/ };
const wait: Ban = { what: "waits", pattern: /\bset(Timeout|Interval|Immediate)\b/ };

const pure = [clock, chance, print, world, network, wait];
const vocabulary = ["model/json.ts", "model/field-schema.ts"];

/** The direction of imports: the design's table, row by row. */
const rules: FolderRules = {
  model: { may: [], packages: ["deep-diff"] },
  fields: { may: ["model"], never: pure },
  manifest: {
    may: ["model"],
    packages: ["yaml", "ajv", "leven"],
    node: ["node:path", "node:buffer", "node:stream/consumers"],
    // One file reads manifests, one runs the command that prints a secret.
    oneFile: [["node:fs", "node:fs/promises"], ["node:child_process"]],
    never: [print],
  },
  // The one loop that waits for the service, the looks that prove that something is not there, and the question to a running object.
  polling: { may: ["model"], never: [print, clock, chance, wait] },
  observe: { may: ["model", "polling"], never: [print, clock, chance] },
  plan: { may: ["model"], never: pure },
  apply: { may: ["model", "polling"], never: [print, clock, chance] },
  // Files and processes of this machine, as the reconciler and the platform both need them; nothing of the wire.
  // One of them writes into standard output if a person names it as a file.
  files: { may: [], node: "any" },
  // Connections that are kept alive, to the service and to the store of a state, and the loop that repeats requests.
  network: {
    may: ["model"],
    packages: ["p-retry", "undici"],
    node: ["node:tls", "node:zlib"],
    never: [print, clock, chance, wait],
  },
  state: {
    may: ["model", "files", "network", "polling"],
    packages: ["aws4fetch", "fast-xml-parser", "pg", "undici"],
    node: "any",
    never: [print],
  },
  kinds: { may: ["model", "fields", "hosting", "database"], never: [print, wait] },
  hosting: {
    may: ["model", "files", "network"],
    packages: ["set-cookie-parser", "undici", "yaml"],
    node: "any",
    never: [print],
  },
  database: { may: ["model"], packages: ["@redis/client"], node: "any", never: [print] },
  // Moves the data of a database into another one. It asks clocks for pauses that must not end unseen.
  replace: { may: ["model", "apply", "database"], packages: ["@redis/client"], node: "any", never: [print] },
  report: {
    may: ["model"],
    packages: ["@dagrejs/dagre", "fast-xml-builder", "string-width", "wrap-ansi", "hono", "picocolors"],
    never: pure,
  },
  // It shares with the reconciler the field table, and the words that the table is written in.
  platform: {
    may: ["fields", "files", ...vocabulary],
    packages: ["hono", "@hono/node-server", "@redis/client", "yaml"],
    node: "any",
  },
  reconcile: {
    may: ["model", "manifest", "observe", "plan", "apply", "replace", "state"],
    never: [print],
  },
  // What a run publishes, and who listens to it: loaded only where the variables of OpenTelemetry ask for it.
  telemetry: {
    may: ["model"],
    packages: [
      ...["@opentelemetry/api", "@opentelemetry/core", "@opentelemetry/resources"],
      ...["@opentelemetry/sdk-trace", "@opentelemetry/sdk-metrics"],
      ...["@opentelemetry/exporter-trace-otlp-http", "@opentelemetry/exporter-metrics-otlp-http"],
      ...["@opentelemetry/exporter-trace-otlp-proto", "@opentelemetry/exporter-metrics-otlp-proto"],
    ],
    node: ["node:diagnostics_channel", "node:perf_hooks"],
    never: [print],
  },
  // A manifest's files with its state and its service, as commands and programs open them.
  project: {
    may: [
      ...["model", "manifest", "plan", "state", "files", "kinds", "hosting"],
      ...["replace", "platform", "reconcile", "telemetry"],
    ],
    node: "any",
    never: [print],
  },
  library: {
    may: ["model", "manifest", "plan", "state", "kinds", "reconcile", "project", "report"],
    node: ["node:crypto", "node:path", "node:process"],
    never: [print],
  },
  "index.ts": { may: ["model", "plan", "library"] },
  // Runs many manifests by what the library exports, and by nothing else of ours.
  controller: {
    may: ["index.ts"],
    packages: [
      ...["ajv", "hono", "@hono/node-server", "kysely", "p-retry", "pg", "pg-boss", "undici", "yaml"],
    ],
    node: "any",
  },
  commands: {
    may: [
      ...[
        "model",
        "fields",
        "manifest",
        "observe",
        "plan",
        "apply",
        "polling",
        "state",
        "files",
        "kinds",
        "hosting",
        "network",
        "database",
        "report",
      ],
      ...["platform", "reconcile", "replace", "project", "telemetry", "controller"],
    ],
    packages: ["commander", "log-update"],
    node: "any",
  },
  "cli.ts": {
    may: ["model", "commands", "files", "project", "report", "telemetry"],
    packages: ["commander"],
    node: "any",
  },
};

/** Rooms of the platform: the folders, and the files beside them, that each may import. */
const rooms = {
  model: ["in-turn.ts"],
  engine: ["in-turn.ts"],
  dialect: ["model"],
  databases: ["model", "engine"],
  control: ["model", "engine", "dialect", "databases", "core.ts", "options.ts", "in-turn.ts"],
  http: ["model", "dialect", "control", "core.ts"],
};

const generic = ["plan", "apply", "manifest", "observe", "report"];
const kinds = read("src/fields/*.ts").map(({ path }) => path.replace(/^.*\/|\.ts$/g, ""));
const longest = 300;

/** Looks a variable up by a name of its own, or reaches for the environment of the process. */
const readsVariable =
  /\bprocess\.env\b|\benv(?:ironment)?\[|\bsettings\.environment\(\)\[|NodeJS\.ProcessEnv/;

/** Files that read variables and are not `project/settings.ts`, each for a reason. */
const readers: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^src\/cli\.ts$/, "hands the environment of the process to settings and telemetry"],
  [/^src\/library\/open\.ts$/, "takes the environment of the process where a program gives none"],
  [/^src\/telemetry\//, "follows the variables of OpenTelemetry, and passes on the trace"],
  [/^src\/database\/names\.ts$/, "passes on what the system's look-ups depend on"],
  [/^src\/commands\/platform\/up\.ts$/, "passes on what the local platform may get"],
  [/^src\/manifest\/read-secret\.ts$/, "reads the variable that a secret names"],
  [/^src\/replace\/hook\.ts$/, "passes on what a command needs to run"],
  [/^src\/state\/remote\/s3\/aws-credentials\.ts$/, "follows the variables of AWS"],
  [/^src\/controller\/sources\/git-process\.ts$/, "passes on what git needs to run"],
  [
    /^src\/controller\/sources\/tenant-environment\.ts$/,
    "gives a tenant's manifests their part of the worker's environment",
  ],
  [/^src\/controller\/runs\/checkout\.ts$/, "hands the worker's environment to those of tenants"],
  [/^src\/platform\//, "is a program of its own"],
];

/** Files that are longer for a reason. */
const excused: { readonly [path: string]: string } = {};

describe("architecture", () => {
  it("imports only in the direction that the design allows", () => {
    expect(src.flatMap(importsOf).length).toBeGreaterThan(0);
    expect(forbiddenImports(src, rules)).toEqual([]);
  });

  it("keeps the rooms of the platform in order", () => {
    expect(forbiddenRooms(src, "platform", rooms)).toEqual([]);
  });

  it("imports files that exist, by their own extension", () => {
    const known = new Set(read("{src,test,scripts,bench}/**/*.ts").map(({ path }) => path));
    const edges = [...src, ...read("{test,scripts,bench}/**/*.ts")].flatMap(importsOf);
    // The driver of a store is found by its name, which is no name of a file here.
    const own = edges.filter(
      ({ is, to }) => is === "file" && !/\.(json|mjs|generated\.\w+)$|\$\{type\}/.test(to),
    );
    expect(own.filter(({ to }) => !known.has(to)).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  it("leaves clock, chance, console, network and waiting to the folders that own them", () => {
    expect(forbiddenCode(src, rules)).toEqual([]);
  });

  it("waits in one loop, and repeats writes in one other", () => {
    const engine = src.filter(({ path }) =>
      /^src\/(apply|observe|polling|reconcile|kinds|commands\/snapshots)\//.test(path),
    );
    const endless = /\bwhile\s*\(|\bdo\s*\{|\bfor\s*\([^;()]*;\s*;/;
    const loops = engine.filter(({ text }) => endless.test(text)).map(({ path }) => path);
    expect(loops).toEqual(["src/apply/engine/submit.ts", "src/polling/poll.ts"]);
  });

  it("reads the environment in settings alone, but for what has a reason", () => {
    const others = src
      .filter(({ path, text }) => path !== "src/project/settings.ts" && readsVariable.test(text))
      .map(({ path }) => path);
    expect(others.filter((path) => !readers.some(([reader]) => reader.test(path)))).toEqual([]);
    expect(readers.filter(([reader]) => !others.some((path) => reader.test(path)))).toEqual([]);
  });

  it("keeps kinds apart", () => {
    expect(kindsThatMeet(src, kinds)).toEqual([]);
  });

  it(`knows nothing of any one kind in ${generic.join(", ")}`, () => {
    const files = src.filter(({ path }) => generic.includes(folderOf(path)));
    expect(files.length).toBeGreaterThan(0);
    expect(forbiddenWords(files, /instance(?!of\b)/i)).toEqual([]);
  });

  it(`has no file of more than ${longest} lines without a reason`, () => {
    expect(tooLong(src, longest, Object.keys(excused))).toEqual([]);
    const long = tooLong(src, longest, []).map((line) => line.split(":")[0]);
    expect(Object.keys(excused).filter((path) => !long.includes(path))).toEqual([]);
  });

  it("has few files, few of them tiny, and no folder of which one loses sight", () => {
    const tiny = src.filter(({ text }) => text.split("\n").length <= 26);
    const entries = new Map<string, Set<string>>();
    for (const { path } of src) {
      const parts = path.split("/");
      for (const [at, part] of parts.entries()) {
        const folder = parts.slice(0, at).join("/");
        entries.set(folder, (entries.get(folder) ?? new Set()).add(part));
      }
    }
    expect(src.length).toBeLessThanOrEqual(650);
    expect(tiny.length).toBeLessThanOrEqual(45);
    expect([...entries].filter(([, names]) => names.size > 40).map(([folder]) => folder)).toEqual([]);
  });

  it("has no folder whose name says nothing", () => {
    expect(emptyNames(read("{src,test,scripts,bench}/**/*.ts").map(({ path }) => path))).toEqual([]);
  });

  it("nests specs in YAML, plan files and reports of plans alone, and flattens them where they are read", () => {
    const converts = /\b(?:flatten|nest)\b[^"]*\} from "[./]*(?:model\/)?spec\.ts"/;
    expect(
      src
        .filter(({ text }) => converts.test(text))
        .map(({ path }) => path)
        .sort(),
    ).toEqual([
      "src/commands/fleet/plan-changes.ts",
      "src/commands/import/manifest-text.ts",
      "src/manifest/resolve-resource.ts",
      "src/model/plan.ts",
      "src/report/change-json.ts",
    ]);
  });

  it("shows values by one file: no other report gets one that was not replaced by what may be shown", () => {
    const unshown =
      /: (?:readonly )?(?:Plan|Change|FieldChange|OutputChange|DriftReport|ResourceDrift|FieldDrift|Outcome|Unsettled|StateDocument|RecordedOutput|Bound|Spec)(?=\[\]|[,;)]| [|&={])/;
    expect(
      src
        .filter(({ path, text }) => path.startsWith("src/report/") && unshown.test(text))
        .map(({ path }) => path)
        .sort(),
      // The comparison of two plans compares secrets by their fingerprints.
    ).toEqual(["src/report/redact.ts", "src/report/view/comparison.ts"]);
  });

  it("re-exports in index.ts, and nothing else", () => {
    const text = src.find(({ path }) => path === "src/index.ts")?.text ?? "";
    const code = text
      .replace(/\/\*[\s\S]*?\*\//g, "")
      .replace(/export (type )?(\*|\{[^}]*\}) from "[^"]+";/g, "");
    expect(code.trim()).toBe("");
  });

  it("reads nothing outside the repository", () => {
    const outside = new RegExp(["\\.\\./", "shared\\b|/", "work/"].join(""));
    const texts = read(
      "{src,test,scripts,bench,bin,docs,examples,schemas,profiles}/**/*.{ts,mjs,js,md,yaml,json}",
    );
    expect(forbiddenWords([...texts, ...read("*.md")], outside)).toEqual([]);
  });
});

describe("each rule can fail", () => {
  const file = (path: string, text: string): readonly SourceFile[] => [{ path, text }];

  it.each([
    [
      "a stage imports a stage",
      "src/plan/x.ts",
      'import { run } from "../apply/run.ts";',
      "plan may not import apply",
    ],
    [
      "a type import counts",
      "src/plan/x.ts",
      'import type {\n  Run,\n} from "../apply/run.ts";',
      "plan may not import",
    ],
    [
      "the engine imports kinds",
      "src/reconcile/plan-for.ts",
      'import { kinds } from "../kinds/index.ts";',
      "may not import kinds",
    ],
    [
      "model imports ours",
      "src/model/x.ts",
      'export * from "../state/store.ts";',
      "model may not import state",
    ],
    [
      "plan touches Node",
      "src/plan/x.ts",
      'import { hash } from "node:crypto";',
      "plan may not import node:crypto",
    ],
    ["report touches Node", "src/report/x.ts", 'import "node:fs";', "report may not import node:fs"],
    [
      "a package in the wrong folder",
      "src/apply/x.ts",
      'import { Pool } from "undici";',
      "may not use the package undici",
    ],
    [
      "a lazy import counts",
      "src/kinds/x.ts",
      'await import("@redis/client");',
      "may not use the package @redis/client",
    ],
    [
      "a type in place counts",
      "src/plan/x.ts",
      'type P = import("undici").Pool;',
      "may not use the package undici",
    ],
    [
      "the platform knows the reconciler",
      "src/platform/x.ts",
      'import { a } from "../model/plan.ts";',
      "platform may not",
    ],
    [
      "a folder nobody planned",
      "src/extras/x.ts",
      'import { a } from "../model/json.ts";',
      "extras has no row",
    ],
    [
      "src imports its tests",
      "src/plan/x.ts",
      'import { a } from "../../test/a.ts";',
      "src may not import test/a.ts",
    ],
  ])("%s", (_, path, text, message) => {
    expect(forbiddenImports(file(path, text), rules).join()).toContain(message);
  });

  it.each([
    ["a lower room imports a higher one", "model/x.ts", "../http/server.ts", "model may not import http"],
    ["a room imports a file beside it", "engine/x.ts", "../core.ts", "engine may not import core.ts"],
    ["a room nobody planned", "extras/x.ts", "../model/records.ts", "platform/extras has no row"],
  ])("%s", (_, path, target, message) => {
    const files = file(`src/platform/${path}`, `import { a } from "${target}";`);
    expect(forbiddenRooms(files, "platform", rooms).join()).toContain(message);
  });

  it("a second file reads the disk", () => {
    const files = ["a", "b"].map((name) => ({ path: `src/manifest/${name}.ts`, text: 'import "node:fs";' }));
    expect(forbiddenImports(files, rules)).toEqual([expect.stringContaining("src/manifest/a.ts does")]);
  });

  it.each([
    ["clock", "src/plan/x.ts", "const now = Date.now();"],
    ["clock, spelled otherwise", "src/report/x.ts", "return new Date();"],
    ["chance", "src/plan/x.ts", "return Math.random();"],
    ["console", "src/report/x.ts", 'console.log("x");'],
    ["environment", "src/plan/x.ts", "return process.env.HOME;"],
    ["waiting in a kind", "src/kinds/x.ts", "setTimeout(go, 5);"],
  ])("%s", (_, path, text) => {
    expect(forbiddenCode(file(path, text), rules)).toHaveLength(1);
  });

  it.each([
    'const url = env["GRAPHFORM_PLATFORM_URL"];',
    "const { HOME } = process.env;",
    'settings.environment()["CI"]',
    "function plan(env: NodeJS.ProcessEnv) {}",
  ])("a variable beside the settings: %s", (text) => {
    expect(readsVariable.test(text)).toBe(true);
  });

  it("a kind imports a kind, and not its own part", () => {
    const text = 'import { a } from "./network.ts"; import { b } from "./instance-rules.ts";';
    expect(
      kindsThatMeet(file("src/kinds/instance.ts", text.replace(" import", "\nimport")), kinds),
    ).toHaveLength(1);
  });

  it("comments and strings are no imports", () => {
    const text = '/**\n * import { a } from "x";\n */\n// import "y";\nconst z = "from";';
    expect(importsOf({ path: "src/plan/x.ts", text })).toEqual([]);
  });

  it("a word, a length and a folder", () => {
    expect(forbiddenWords(file("src/plan/x.ts", "if (a instanceof B) return;"), /instance/i)).toHaveLength(1);
    expect(tooLong(file("src/plan/x.ts", "x\n".repeat(longest + 1)), longest, [])).toHaveLength(1);
    expect(emptyNames(["src/utils/x.ts", "src/plan/x.ts"])).toEqual(["src/utils/x.ts"]);
  });
});

function read(pattern: string): readonly SourceFile[] {
  return globSync(pattern, { cwd: root })
    .sort()
    .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(root, path), "utf8") }));
}
