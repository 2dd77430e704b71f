import { createHash } from "node:crypto";
import type { DriftReport, FieldDrift } from "../../src/model/drift.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { StateDocument } from "../../src/model/state.ts";
import { annotationLines, driftAnnotations, planAnnotations } from "../../src/report/annotations.ts";
import { driftMetrics } from "../../src/report/drift-metrics.ts";
import { applyEvent, stamped } from "../../src/report/events.ts";
import { junitText } from "../../src/report/junit.ts";
import { gitlabCounts } from "../../src/report/plan-summary.ts";
import { type SarifContext, sarifLog } from "../../src/report/sarif/sarif-log.ts";
import { jsonText, makePalette } from "../../src/report/typeset.ts";
import { outcome } from "./apply-parts.ts";
import { orders, whole } from "./drift-parts.ts";
import { assets } from "./html/pages.ts";
import { change, field, plan, step } from "./plan-parts.ts";
import {
  driftFindings,
  driftHtml,
  driftJson,
  driftMarkdown,
  driftSuite,
  driftText,
  outcomeEvents,
  outcomeText,
  outputsJson,
  outputsText,
  planEvents,
  planFindings,
  planHtml,
  planJson,
  planMarkdown,
  planText,
  stateJson,
  stateText,
} from "./rendered.ts";
import { words } from "./words.ts";

/** One value in each position of one resource that may have one. */
export interface Given {
  /** In secret fields, in sensitive outputs, and in access rules: in clear, sealed, and as earlier versions wrote it. */
  readonly password: string;
  /** In plain fields, and in plain outputs. */
  readonly plain: Json;
}

/** Everything that reports are made of. */
export interface Made {
  readonly plan: Plan;
  readonly earlier: Plan;
  readonly drift: DriftReport;
  readonly state: StateDocument;
  readonly outcome: Outcome;
}

/** A plan, a drift report, a state and an outcome with these values in them, a user and an instance for each. */
export function madeOf(all: readonly Given[]): Made {
  const users = all.flatMap((given, index) => {
    const { password, plain } = given;
    const acl = `~* >${password.replace(/\s/g, "")} +PING`;
    const sealed = { $secret: `hmac-${password}` };
    const login = { username: "app", instance: "orders" };
    return [
      change("create", `users.new${index}`, {
        reason: "does not exist yet",
        after: { ...login, password, acl },
      }),
      change("update", `users.old${index}`, {
        id: `user-${index}`,
        reason: "2 fields differ",
        before: { ...login, password: `old${password}`, acl: "~* +PING", odd: password },
        after: { ...login, password: sealed, acl, odd: password },
        fields: [
          field("acl", { before: "~* +PING", after: acl }),
          field("odd", { before: password, after: "x", secret: true }),
          field("password", { before: `old${password}`, after: password }),
        ],
        drift: [field("password", { before: sealed, after: password })],
      }),
      change("update", `instances.db${index}`, {
        id: `instance-${index}`,
        reason: "1 field differs",
        before: { region: "us-east-1", "config.description": plain },
        after: { region: "us-east-1", "config.description": plain, "config.graphdbPassword": password },
        fields: [
          field("config.description", { before: plain, after: plain, source: "echoed" }),
          field("config.graphdbPassword", { before: sealed, after: sealed }),
        ],
        drift: [field("config.description", { before: "x", after: plain })],
      }),
    ];
  });
  const outputs = Object.fromEntries(
    all.flatMap(({ password, plain }, index) => [
      [`secret${index}`, { value: password, sensitive: true }],
      [`sealed${index}`, { value: { $secret: `hmac-${password}` }, sensitive: false }],
      [`plain${index}`, { value: plain, sensitive: false }],
    ]),
  );
  const changed = Object.fromEntries(
    Object.entries(outputs).map(([name, { value, sensitive }]) => [
      name,
      { action: "update" as const, before: value, after: value, unknown: false, sensitive },
    ]),
  );
  const made = plan({
    changes: users,
    steps: users.map(({ address, action, after = {} }) =>
      step(action === "create" ? "create" : "update", address, { spec: after, patch: after, record: after }),
    ),
    outputs: changed,
  });
  return {
    plan: made,
    earlier: { ...made, changes: users.filter(({ action }) => action === "update"), serial: 11 },
    drift: driftOf(all, outputs),
    state: stateOf(all, outputs),
    outcome: outcome({
      outputs,
      exitCode: 1,
      certificate: users.flatMap(({ address, kind, fields }) =>
        fields.map((left) => ({ address, kind, reason: "1 field differs", field: left })),
      ),
    }),
  };
}

type Outputs = StateDocument["outputs"];

function driftOf(all: readonly Given[], outputs: Outputs): DriftReport {
  const seen = (path: string, value: Json, secret: boolean): FieldDrift => ({
    ...{ path, class: "outside", reason: "changed outside", secret },
    ...{ applied: value, seen: value, declared: value },
  });
  return {
    ...whole,
    resources: all.flatMap(({ password, plain }, index) => [
      {
        ...orders,
        address: `users.u${index}`,
        kind: "users",
        events: [],
        fields: [
          seen("acl", `~* >${password.replace(/\s/g, "")}`, false),
          seen("odd", password, true),
          seen("password", password, false),
        ],
      },
      {
        ...orders,
        address: `instances.i${index}`,
        events: [],
        fields: [seen("config.description", plain, false)],
      },
    ]),
    outputs: Object.entries(outputs).map(([name, { value, sensitive }]) => ({
      ...{ name, sensitive },
      ...{ applied: value, seen: value },
    })),
  };
}

function stateOf(all: readonly Given[], outputs: Outputs): StateDocument {
  const bound = {
    ...{ place: {}, protect: false, onDelete: "delete", refs: [] },
    createdAt: "2026-03-02T08:30:00.000Z",
  } as const;
  const resources = all.flatMap(({ password, plain }, index) => [
    [
      `users.u${index}`,
      { ...bound, kind: "users", id: `u-${index}`, recorded: { password, username: "app" } },
    ],
    [
      `instances.i${index}`,
      { ...bound, kind: "instances", id: `i-${index}`, recorded: { "config.description": plain } },
    ],
  ]);
  return {
    ...{ version: 2, name: "shop", lineage: "6f1c2a9e", serial: 12, key: "0".repeat(64) },
    savedAt: "2026-03-02T08:30:00.000Z",
    resources: Object.fromEntries(resources),
    ...{ intents: {}, rounds: {}, appliedPlans: [] },
    outputs,
  };
}

const page = { palette: makePalette(false), width: 80 };
const same = (file: string): string => file;
const sarif: SarifContext = {
  version: "1.0.0",
  projectUrl: "https://forge.example/graphform",
  fallbackFile: "x",
  uriOf: same,
  digest: (text) => createHash("sha256").update(text).digest("hex"),
};
const now = Date.parse("2026-03-02T08:30:00.000Z");

/** The JSON of reports, by the name of the schema that each is valid by. */
export function documentsOf({ plan: made, drift, state, outcome: ended }: Made): {
  readonly plan: JsonObject;
  readonly drift: JsonObject;
  readonly events: readonly JsonObject[];
  readonly sarif: readonly Json[];
  readonly others: readonly Json[];
} {
  const steps = ended.certificate.map(({ address, kind }) => ({
    ...{ type: "step-start" as const, key: address, address, kind, operation: "update" as const },
  }));
  return {
    plan: planJson(made, words),
    drift: driftJson(drift, words),
    events: [
      ...planEvents(made, words),
      ...steps.map((event) => applyEvent(event, words)),
      ...outcomeEvents(ended),
    ].map((event) => stamped(event, now)),
    sarif: [sarifLog(planFindings(made, words), sarif).log, sarifLog(driftFindings(drift, words), sarif).log],
    others: [stateJson(state, words), outputsJson(state.outputs), gitlabCounts([made])],
  };
}

/** Every report, each with a name. */
export function reportsOf(made: Made): { readonly [name: string]: string } {
  const { plan: of, earlier, drift, state, outcome: ended } = made;
  const documents = documentsOf(made);
  const json = Object.entries(documents).map(([name, document]) => [`${name}.json`, jsonText(document)]);
  return {
    ...Object.fromEntries(json),
    "plan.txt": planText(of, words, page),
    "plan.md": planMarkdown(of, words),
    "plan.html": planHtml(of, words, { assets, earlier: { plan: earlier, file: "earlier.plan" } }),
    "plan annotations": annotationLines(planAnnotations(of, same), "").join("\n"),
    "drift.txt": driftText(drift, words, { ...page, verbose: true }),
    "drift.md": driftMarkdown(drift, words),
    "drift.html": driftHtml(drift, words, assets),
    "drift.xml": junitText([driftSuite(drift, words, same)]),
    "drift.prom": driftMetrics(drift, now),
    "drift annotations": annotationLines(driftAnnotations(drift, same), "").join("\n"),
    "outcome.txt": outcomeText(ended, page),
    "state.txt": stateText(state, words, page),
    "outputs.txt": outputsText(state.outputs, page.palette),
  };
}
