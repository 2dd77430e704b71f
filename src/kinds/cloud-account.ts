/** @module Translates cloud accounts to and from the service. */

import { cloudAccountSchema } from "../fields/cloud-account.ts";
import { isServiceError } from "../model/errors.ts";
import { defined, isObject, type Json, type JsonObject, own } from "../model/json.ts";
import type { Driver, Kind, Reader } from "../model/kind.ts";
import type { Live, Phase, Ref, Seen } from "../model/observed.ts";
import type { Profile } from "../model/profile.ts";
import type { Answer, Reads, Service } from "../model/service.ts";
import { partOf, type Spec } from "../model/spec.ts";
import { instructionsOf } from "./account-instructions.ts";
import { accountParams } from "./account-params.ts";
import { checkCloudAccount } from "./cloud-account-rules.ts";
import { listedIds, notePartial, wasPartial } from "./listed-ids.ts";
import { phaseOf, shownStatus } from "./phase.ts";

/** Cloud accounts: instances of the account configuration resource. A person runs the bootstrap. */
export const cloudAccount: Kind = {
  name: "cloudAccounts",
  noun: "cloud account",
  type: "graphform_cloud_account",
  schema: cloudAccountSchema,
  operations: { create: "account.create", update: "account.update", delete: "account.delete" },
  describedBy: "account.get",
  outputs: ["id", "configId", "status", "bootstrap"],
  holdsData: false,
  protectedByDefault: () => false,
  place: () => ({}),
  classKey: (spec) => String(spec["cloudProvider"]),
  serverDefaults: () => ({}),
  check: checkCloudAccount,
  reader: (service) => reader(service),
  driver: (service) => driver(service),
};

function reader(service: Reads): Reader {
  const params = accountParams(service);
  return {
    async list(place, signal) {
      const call = { operation: "account.list", params: await params(signal) };
      const { values } = await service.read(call, signal);
      notePartial(service, place, values);
      return listedIds(values);
    },
    isPartial: (place) => wasPartial(service, place),
    async get(ref, signal) {
      try {
        const on = { ...(await params(signal)), id: ref.id };
        const { values } = await service.read({ operation: "account.get", params: on }, signal);
        const account = await configuration(values, service, signal);
        return live(ref, values, waitingFor(values, account, service), service);
      } catch (error) {
        if (isServiceError(error, "not-found")) return undefined;
        throw error;
      }
    },
  };
}

function driver(service: Service): Driver {
  const params = accountParams(service);
  return {
    ...reader(service),
    async create(spec, signal) {
      const body = requestBody(spec, service.profile);
      const { values } = await service.write(
        { operation: "account.create", params: await params(signal), body },
        signal,
      );
      return String(values["id"]);
    },
    async update() {},
    async delete(ref, signal) {
      await service.write(
        { operation: "account.delete", params: { ...(await params(signal)), id: ref.id } },
        signal,
      );
    },
    async operate() {},
  };
}

/** The body of a create, in the service's spelling: the settings stand inside requestParams. Which providers repeat their name inside is the profile's to say. */
function requestBody(spec: Spec, { fields, accounts }: Profile): JsonObject {
  const spelled = (name: string): string => own(fields, name) ?? name;
  const provider = spec["cloudProvider"] ?? "";
  const isRepeated = accounts?.repeatProvider?.includes(String(provider)) ?? provider === "aws";
  const params = { ...(isRepeated ? { cloud_provider: provider } : {}), ...partOf(spec, "config") };
  const requestParams = Object.entries(params).map(([name, value]): [string, Json] => [
    spelled(name),
    accounts?.booleans?.includes(name) ? truthOf(value) : textOf(value, name),
  ]);
  return { [spelled("cloud_provider")]: provider, requestParams: Object.fromEntries(requestParams) };
}

function truthOf(value: Json): Json {
  return value === "true" || value === "false" ? value === "true" : value;
}

/** A truth as text, for a field that is text in the manifest. */
function textOf(value: Json, name: string): Json {
  return name === "private_link" && typeof value === "boolean" ? String(value) : value;
}

/** The account configuration behind the instance: what a person has to run, and whether it was run. */
async function configuration(
  values: { readonly [name: string]: Json },
  service: Reads,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const id = configId(values);
  if (
    id === undefined ||
    phaseOf(values, service, "account").is !== "pending" ||
    !service.offers("account.describe")
  )
    return undefined;
  try {
    return await service.read({ operation: "account.describe", params: { id } }, signal);
  } catch (error) {
    if (isServiceError(error, "not-found")) return undefined;
    throw error;
  }
}

/** The configuration's id: where the profile's answer says, else at its usual path. */
function configId(values: { readonly [name: string]: Json }): string | undefined {
  const params = values["resultParams"];
  const id =
    values["configId"] ?? (isObject(params) ? params["cloud_provider_account_config_id"] : undefined);
  return typeof id === "string" && id !== "" ? id : undefined;
}

const configRows = Object.keys(cloudAccountSchema.properties["config"]?.properties ?? {});

function live(ref: Ref, values: { readonly [name: string]: Json }, waiting: Waiting, service: Reads): Live {
  const id = configId(values);
  const echo: JsonObject = isObject(values["resultParams"]) ? values["resultParams"] : {};
  const config = configRows.flatMap((name): [string, Seen][] => {
    const value = echo[service.profile.fields[name] ?? name];
    const isShown = value !== undefined && value !== null && value !== "";
    return isShown ? [[`config.${name}`, { value, source: "echoed" }]] : [];
  });
  const { cloudProvider, createdAt, modifiedAt } = values;
  const status = shownStatus(values, service, "account");
  return {
    id: ref.id,
    phase: waiting.phase,
    spec: {
      ...(typeof cloudProvider === "string" && cloudProvider !== ""
        ? { cloudProvider: { value: cloudProvider, source: "described" } }
        : {}),
      ...Object.fromEntries(config),
    },
    outputs: {
      id: ref.id,
      ...defined({ configId: id }),
      ...(typeof status === "string" ? { status } : {}),
      ...defined({ bootstrap: waiting.bootstrap }),
    },
    ...(typeof createdAt === "string" ? { createdAt } : {}),
    ...(typeof modifiedAt === "string" ? { modifiedAt } : {}),
  };
}

/** The phase of an account, with the instructions where it waits for a person. */
interface Waiting {
  readonly phase: Phase;
  readonly bootstrap?: string;
}

/** The person has done his part: the same delete, sent once more, finishes it. */
const givenBack: Phase = {
  is: "waiting-for-person",
  detail: "the account is being given back; the next apply finishes its deletion",
};

/** A pending account configuration waits for its bootstrap, one that is ready to offboard for its offboarding. */
function waitingFor(
  values: { readonly [name: string]: Json },
  account: Answer | undefined,
  service: Reads,
): Waiting {
  const shown = phaseOf(values, service, "account");
  const itself = account === undefined ? shown : phaseOf(account.values, service, "account");
  if (shown.is === "waiting-for-person")
    return {
      phase: { ...shown, detail: `${shown.detail}: the account has to be connected again at the service` },
    };
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
