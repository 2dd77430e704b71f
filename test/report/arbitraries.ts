import fc from "fast-check";
import {
  actions,
  effects,
  likenesses,
  operations,
  outputActions,
  phases,
  results,
  severities,
  sources,
} from "../../scripts/document-words.ts";
import type { Problem } from "../../src/model/errors.ts";
import { disruptions } from "../../src/model/field-schema.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import type { ApplyEvent, Outcome, StepOutcome } from "../../src/model/outcome.ts";
import type { Change, FieldChange, Guard, OutputChange, Plan, Step } from "../../src/model/plan.ts";
import { flatten } from "../../src/model/spec.ts";
import type { RecordedOutput, StateDocument } from "../../src/model/state.ts";
import { plan } from "./plan-parts.ts";

/** Stands in every secret; no rendering may hold it. */
export const secret = "hmac5b1f0c77deadbeef";

const nasty = fc.constantFrom(
  ...[
    "\u001b[2J",
    "\u009b31m",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u061c",
    "\ud800",
    "\u0000",
    "\u2028",
    "__proto__",
  ],
  ...["\r\nPlan: 0 to add, 0 to change, 0 to destroy.", "\nApply complete!"],
);

/** Foreign words, often hostile. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.tuple(fc.string({ maxLength: 5 }), nasty).map((parts) => parts.join("")),
);

const secretValue: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  { $secret: secret },
  { $template: ["x", { $secret: secret }, { $ref: "instances.a.host" }] },
  { $template: ["x", { $secret: secret }] },
  [1, { inner: { $secret: secret } }],
);
const plainValue: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 3 }),
  text.map((name) => ({ $template: [name, { $ref: `instances.${name}.host` }] })),
);
const value = fc.oneof(plainValue, secretValue);

const section = fc.constantFrom("instances", "users", "networks", "martians");
const name = fc.oneof(fc.constantFrom("a", "b", "c"), text);
const address = fc.tuple(section, name).map((parts) => parts.join("."));

/** A spec with secrets in it: sealed ones, and in clear where the field table says that the field is one. */
function specOf(kind: string): fc.Arbitrary<JsonObject> {
  const clear = fc.constant<Json>(secret);
  const config = { description: value, graphdbPassword: kind === "instances" ? clear : secretValue };
  return fc.record(
    {
      region: value,
      password: kind === "users" ? clear : secretValue,
      config: fc.record(config, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
}

const guard: fc.Arbitrary<Guard> = fc.record({ code: text, message: text, lift: text });
const guards = fc.array(guard, { maxLength: 2 });
const disruption = fc.constantFrom(...disruptions);

const openField: fc.Arbitrary<FieldChange> = fc.record(
  {
    path: fc.oneof(fc.constantFrom("region", "config.description"), text),
    before: value,
    after: value,
    source: fc.constantFrom(...sources),
    effect: fc.constantFrom(...effects),
    disruption,
    secret: fc.boolean(),
  },
  { requiredKeys: ["path", "effect", "disruption", "secret"] },
);

/** A field that only its own mark calls secret. */
const markedField: fc.Arbitrary<FieldChange> = fc.record({
  path: fc.constant("config.odd"),
  before: fc.constant(secret),
  after: fc.constant(secret),
  effect: fc.constant("in-place"),
  disruption,
  secret: fc.constant(true),
});
const field = fc.oneof(openField, markedField);

const position = fc.record({
  line: fc.integer({ min: 1, max: 999 }),
  column: fc.integer({ min: 1, max: 40 }),
});
const range = fc.record({ file: text, start: position, end: position });
const phase = fc.record({
  is: fc.constantFrom(...phases),
  detail: text,
});

const change: fc.Arbitrary<Change> = section.chain((kind) =>
  fc.record(
    {
      action: fc.constantFrom(...actions),
      address: name.map((own) => `${kind}.${own}`),
      kind: fc.constant(kind),
      reason: text,
      fields: fc.array(field, { maxLength: 3 }),
      disruption,
      blocked: guards,
      drift: fc.array(field, { maxLength: 2 }),
      previousAddress: address,
      id: text,
      where: range,
      phase,
      before: specOf(kind).map(flatten),
      after: specOf(kind).map(flatten),
      forcedBy: text,
      mayBe: fc.record({
        is: fc.constantFrom(...likenesses),
        ids: fc.array(text, { minLength: 1, maxLength: 3 }),
        count: fc.integer({ min: 1, max: 9 }),
      }),
    },
    { requiredKeys: ["action", "address", "kind", "reason", "fields", "disruption", "blocked", "drift"] },
  ),
);

const operation = fc.constantFrom(...operations);
const step: fc.Arbitrary<Step> = fc.record({
  key: text,
  operation,
  address,
  kind: section,
  place: fc.constant({}),
  spec: specOf("martians").map(flatten),
  patch: specOf("martians").map(flatten),
  checks: fc.constant([]),
  after: fc.array(text, { maxLength: 2 }),
  precondition: text,
  blocked: guards,
});

const output: fc.Arbitrary<OutputChange> = fc.oneof(
  fc.record(
    {
      action: fc.constantFrom(...outputActions),
      before: value,
      after: value,
      unknown: fc.boolean(),
      sensitive: fc.boolean(),
    },
    { requiredKeys: ["action", "unknown", "sensitive"] },
  ),
  fc.record({
    action: fc.constant("update"),
    before: fc.constant(secret),
    after: fc.constant(secret),
    unknown: fc.boolean(),
    sensitive: fc.constant(true),
  }),
);

const sourceCounts = fc.record({
  probed: fc.nat(),
  described: fc.nat(),
  echoed: fc.nat(),
  recorded: fc.nat(),
});

export const anyPlan: fc.Arbitrary<Plan> = fc
  .record({
    name: text,
    changes: fc.uniqueArray(change, { maxLength: 5, selector: (entry) => entry.address }),
    steps: fc.array(step, { maxLength: 4 }),
    outputs: fc.dictionary(text, output, { maxKeys: 3 }),
    census: fc.record({
      declared: fc.nat(),
      checked: fc.nat(),
      skipped: fc.nat(),
      unmanaged: fc.nat(),
      fields: sourceCounts,
    }),
    forecast: fc.record({ restarts: fc.nat(), replacements: fc.nat(), seconds: fc.nat(100_000) }),
    complete: fc.boolean(),
  })
  .map(plan);

const result = fc.constantFrom(...results);

const ended: fc.Arbitrary<StepOutcome> = fc.record(
  {
    key: text,
    address,
    kind: section,
    operation,
    result,
    elapsed: fc.nat(),
    verb: text,
    id: text,
    message: text,
    hint: text,
  },
  { requiredKeys: ["key", "address", "kind", "operation", "result", "elapsed"] },
);

const recordedOutput: fc.Arbitrary<RecordedOutput> = fc.oneof(
  fc.record({ value, sensitive: fc.boolean() }),
  fc.record({ value: fc.constant(secret), sensitive: fc.constant(true) }),
);

export const anyOutcome: fc.Arbitrary<Outcome> = fc.record({
  steps: fc.array(ended, { maxLength: 5 }),
  added: fc.nat(),
  changed: fc.nat(),
  destroyed: fc.nat(),
  resumed: fc.integer({ min: 1 }),
  outputs: fc.dictionary(text, recordedOutput, { maxKeys: 3 }),
  certificate: fc.array(
    fc.record(
      { address, kind: section, reason: text, field },
      { requiredKeys: ["address", "kind", "reason"] },
    ),
    { maxLength: 2 },
  ),
  warnings: fc.array(text, { maxLength: 2 }),
  exitCode: fc.constantFrom(0, 1, 4, 7),
});

export const anyEvent: fc.Arbitrary<ApplyEvent> = fc.oneof(
  fc.record({
    type: fc.constant("step-start"),
    key: text,
    address,
    kind: section,
    operation,
    verb: text,
    id: text,
  }),
  fc.record({
    type: fc.constant("step-progress"),
    key: text,
    address,
    kind: section,
    operation,
    elapsed: fc.nat(),
    detail: text,
  }),
  fc.record({ type: fc.constant("step-end"), outcome: ended }),
  fc.record({ type: fc.constant("warning"), address, message: text }),
);

export const anyProblem: fc.Arbitrary<Problem> = fc.record(
  {
    code: text,
    severity: fc.constantFrom(...severities),
    message: text,
    range,
    excerpt: text,
    hint: text,
    address,
  },
  { requiredKeys: ["code", "severity", "message", "range"] },
);

export const anyState: fc.Arbitrary<StateDocument> = fc.record({
  version: fc.constant(2),
  name: text,
  lineage: text,
  serial: fc.nat(),
  key: fc.constant(secret),
  savedAt: text,
  resources: fc.dictionary(
    text,
    fc.record({
      kind: section,
      id: text,
      place: fc.dictionary(text, text, { maxKeys: 2 }),
      recorded: fc.record({ region: value, password: secretValue }),
      protect: fc.boolean(),
      onDelete: fc.constantFrom("delete", "retain", "backup"),
      refs: fc.array(text, { maxLength: 2 }),
      createdAt: text,
      converging: fc.record({ operation: text, since: text, record: fc.record({ x: secretValue }) }),
    }),
    { maxKeys: 2 },
  ),
  intents: fc.constant({}),
  rounds: fc.constant({}),
  appliedPlans: fc.constant([]),
  outputs: fc.dictionary(text, recordedOutput, { maxKeys: 2 }),
});
