/** @module Translates cloud accounts to and from the service. */
import { cloudAccountSchema } from "../fields/cloud-account.ts";
import { accountResource, planEntries } from "../hosting/plan-catalogue.ts";
import type { Values } from "../hosting/wire/spelling.ts";
import { GraphformError } from "../model/errors.ts";
import { defined, filledTextIn, isObject, type Json, type JsonObject, own, textIn } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Hide } from "../model/known-secrets.ts";
import type { Live, Phase, Ref } from "../model/observed.ts";
import { memoizeAsync, perObject } from "../model/once.ts";
import type { Answer, Reads } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";
import { checkCloudAccount } from "./cloud-account-rules.ts";
import { defineKind } from "./define-kind.ts";
import {
  fromWire,
  type Params,
  type ParamsAt,
  phaseOf,
  resourceReader,
  resourceWriter,
  shownStatus,
  timesOf,
  toWire,
  unlessMissing,
} from "./resource.ts";

export const cloudAccount: Kind = defineKind({
  name: "cloudAccounts",
  noun: "cloud account",
  prefix: "account",
  schema: cloudAccountSchema,
  describedBy: "account.get",
  outputs: ["id", "configId", "status", "bootstrap"],
  classFields: ["cloudProvider"],
  check: checkCloudAccount,
  reader: (service) =>
    resourceReader(cloudAccount, service, paramsOf(service), async (ref, values, signal) => {
      const account = await configuration(values, service, signal);
      return live(ref, values, waitingFor(values, account, service), service);
    }),
  writer(service) {
    const bodyOf = (spec: Spec): JsonObject => requestBody(spec, service);
    const { create, delete: remove } = resourceWriter(cloudAccount, service, paramsOf(service), bodyOf);
    return { create, delete: remove };
  },
});

/** Path parameters of the account configuration resource, from the service's plans; none if the profile lists no plans. */
const paramsOf = perObject((service: Reads): ParamsAt => {
  const searchOnce = memoizeAsync((signal: AbortSignal) => search(service, signal));
  return (_place, signal) => searchOnce(signal);
});

async function search(service: Reads, signal: AbortSignal): Promise<Params> {
  if (!service.offers("plans.list")) return {};
  const { body } = await service.read({ operation: "plans.list", params: {} }, signal);
  for (const { serviceModelKey, productTierKey, resources } of planEntries(body)) {
    const resource = resources.find(({ id }) => id.startsWith(accountResource));
    if (resource !== undefined) return { serviceModelKey, productTierKey, resourceKey: resource.key };
  }
  throw new GraphformError("no-account-resource", "no service plan has an account configuration resource", {
    hint: "cloud accounts need a bring-your-own-account plan; check the subscription",
  });
}

/** The body of a create: the profile says which providers repeat their name among the settings, and how booleans are sent. */
function requestBody(spec: Spec, service: Reads): JsonObject {
  const { fields, accounts } = service.profile;
  const provider = spec["cloudProvider"] ?? "";
  const isRepeated = accounts?.repeatProvider?.includes(String(provider)) ?? provider === "aws";
  const sent = Object.entries(spec).map(([path, value]): [string, Json] => {
    const name = path.slice(path.lastIndexOf(".") + 1);
    if (accounts?.booleans?.includes(name))
      return [path, value === "true" || value === "false" ? value === "true" : value];
    // A boolean is text for a field that is text in the manifest.
    return [path, name === "private_link" && typeof value === "boolean" ? String(value) : value];
  });
  const { requestParams, ...body } = toWire(cloudAccountSchema, Object.fromEntries(sent), service);
  const repeated = isRepeated ? { [own(fields, "cloud_provider") ?? "cloud_provider"]: provider } : {};
  return { ...body, requestParams: { ...repeated, ...(isObject(requestParams) ? requestParams : {}) } };
}

/** The account configuration behind the instance: what a person has to run, and whether it was run. */
async function configuration(
  values: Values,
  service: Reads,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const id = configId(values);
  const isPending = phaseOf(values, service, "account").is === "pending";
  if (id === undefined || !isPending || !service.offers("account.describe")) return undefined;
  return unlessMissing(() => service.read({ operation: "account.describe", params: { id } }, signal));
}

/** The configuration's id: at the path of the profile's answer, else at its usual path. */
function configId(values: Values): string | undefined {
  const params = values["resultParams"];
  const shown = isObject(params) ? params["cloud_provider_account_config_id"] : undefined;
  return filledTextIn(values["configId"] ?? shown);
}

function live(ref: Ref, values: Values, waiting: Waiting, service: Reads): Live {
  const status = shownStatus(values, service, "account");
  return {
    id: ref.id,
    phase: waiting.phase,
    spec: fromWire(cloudAccountSchema, values, service),
    outputs: {
      id: ref.id,
      ...defined({ configId: configId(values), status: textIn(status), bootstrap: waiting.bootstrap }),
    },
    ...timesOf(values),
  };
}

interface Waiting {
  readonly phase: Phase;
  readonly bootstrap?: string;
}

/** The person has done the work: the same delete, sent once more, finishes it. */
const givenBack: Phase = {
  is: "waiting-for-person",
  detail: "the account is being given back; the next apply finishes its deletion",
};

/** A pending account configuration waits for its bootstrap, one that is ready to offboard for its offboarding. */
function waitingFor(values: Values, account: Answer | undefined, service: Reads): Waiting {
  const shown = phaseOf(values, service, "account");
  const itself = account === undefined ? shown : phaseOf(account.values, service, "account");
  const disconnected = `${shown.detail}: the account has to be connected again at the service`;
  if (shown.is === "waiting-for-person") return { phase: { ...shown, detail: disconnected } };
  if (shown.is === "pending" && itself.is === "failed") return { phase: withMessage(itself, account) };
  const status = String(account?.values["status"] ?? "").toUpperCase();
  if (shown.is === "pending" && status === "DELETING") return { phase: givenBack };
  const isAsked = status === "PENDING" || itself.is === "waiting-for-person";
  const step = status === "READY_TO_OFFBOARD" ? "offboard" : isAsked ? "bootstrap" : undefined;
  if (shown.is !== "pending" || account === undefined || step === undefined) return { phase: shown };
  const instructions = instructionsOf(account, step, service.hide);
  const what = instructions?.first === undefined ? "" : `: ${instructions.first}`;
  return {
    phase: { is: "waiting-for-person", detail: `the ${step} must be run in the account${what}` },
    ...(instructions === undefined ? {} : { bootstrap: instructions.text }),
  };
}

function withMessage(phase: Phase, account: Answer | undefined): Phase {
  const message = account?.values["statusMessage"];
  return typeof message === "string" ? { ...phase, detail: `${phase.detail}: ${message}` } : phase;
}

/** Names of a describe answer that say how an account is set up, and how it is given back. */
const names: { readonly [step in "bootstrap" | "offboard"]: (name: string) => boolean } = {
  bootstrap: (name) => isWay(name, "bootstrap", ways) || isWay(name, "template", ["url", "link"]),
  offboard: (name) => isWay(name, "offboard", ways),
};

const ways: readonly string[] = ["command", "script", "url", "link"];

/** True for a name that speaks of a step and ends with one of the ways to take it: `awsBootstrapShellCommand`. */
function isWay(name: string, step: string, ends: readonly string[]): boolean {
  const lower = name.toLowerCase();
  const end = ends.find((ending) => lower.endsWith(ending));
  return end !== undefined && lower.slice(0, -end.length).includes(step);
}

/** Answer key of the profile for each instruction, for a vendor with other names. */
const answerKeys = { bootstrap: "instructions", offboard: "offboard" };

/** The instructions of a step in an account configuration; `first` is the one command or address, if the service gives one. */
function instructionsOf(answer: Answer, step: "bootstrap" | "offboard", hide: Hide) {
  const named = textsOf(answer.body)
    .filter(([name]) => names[step](name))
    .map(([name, text]) => [name, hide(text)] as const);
  const shown = answer.values[answerKeys[step]];
  const found = named.length > 0 || typeof shown !== "string" ? named : [[step, hide(shown)] as const];
  const message = answer.values["statusMessage"];
  const said = typeof message === "string" ? [`# ${oneLine(message)}`] : [];
  const first = found[0]?.[1];
  if (first === undefined && said.length === 0) return undefined;
  // `awsCloudFormationTemplateURL` as people read it: `aws Cloud Formation Template URL`.
  const spaced = (name: string): string =>
    oneLine(name.replaceAll("_", " ").replace(/([a-z0-9])([A-Z])/g, "$1 $2"));
  const text = [...said, ...found.flatMap(([name, value]) => [`# ${spaced(name)}`, value])].join("\n");
  return { text, first: first && oneLine(first) };
}

function textsOf(value: Json): readonly (readonly [string, string])[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]): readonly (readonly [string, string])[] => {
    if (typeof inner === "string") return inner === "" ? [] : [[name, inner]];
    return textsOf(inner);
  });
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
