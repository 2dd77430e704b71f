/** @module Compares declared settings with those that the service offers today. */
import { instanceSchema } from "../fields/instance.ts";
import { type PlanEntry, planEntries } from "../hosting/plan-catalogue.ts";
import type { Attempt } from "../hosting/wire/read-answer.ts";
import { boundedMatcher } from "../hosting/wire/service-error.ts";
import type { Desired } from "../model/desired.ts";
import { isServiceError } from "../model/errors.ts";
import { fieldRows } from "../model/field-schema.ts";
import { isObject, type Json, objectsIn, own } from "../model/json.ts";
import type { Answer, Profile, Reads } from "../model/service.ts";
import { withoutUserinfo } from "../model/userinfo.ts";
import { wireName } from "./resource.ts";

interface NotOffered {
  readonly desired: Desired;
  readonly message: string;
  readonly hint: string;
}

interface OfferCheck {
  readonly findings: readonly NotOffered[];
  readonly notCompared: readonly string[];
}

interface Parameter {
  readonly key: string;
  readonly options: readonly string[];
  /** A regular expression of the service; empty: none. */
  readonly regex: string;
  readonly isRequired: boolean;
  /** The cloud providers that it is meant for, in small letters; empty: all. */
  readonly providers: readonly string[];
}

export function canCheckOffer(service: Reads): boolean {
  return service.offers("plans.list") && service.offers("plans.parameters");
}

/** Compares declared instances with the parameters that the service takes today, asked for once for each tier and component. */
export async function checkOffer(
  desired: readonly Desired[],
  service: Reads,
  signal: AbortSignal,
): Promise<OfferCheck> {
  const answer = await told(service.read({ operation: "plans.list", params: {} }, signal));
  const plans = isServiceError(answer) ? [] : planEntries(answer.body);
  const byPlace = Map.groupBy(
    desired.filter(({ kind }) => kind === "instances"),
    ({ spec }) => `${String(spec["tier"])} ${String(spec["component"])}`,
  );
  const matching = boundedMatcher();
  const checks = [...byPlace].map(async ([place, entries]): Promise<OfferCheck> => {
    const [first] = entries;
    const found = first === undefined ? undefined : resourceOf(first, plans, service.profile);
    const nothing = (reason = ""): OfferCheck => ({
      findings: [],
      notCompared: [`the service does not tell what it offers for ${place}${reason}`],
    });
    if (found === undefined) return nothing(isServiceError(answer) ? `: ${answer.message}` : "");
    const offer = await told(service.read({ operation: "plans.parameters", params: found }, signal));
    if (isServiceError(offer)) return nothing(`: ${offer.message}`);
    const parameters = parametersOf(offer.values["items"] ?? null);
    if (parameters.length === 0) return nothing();
    const compared = entries.map((entry) => compare(entry, parameters, service.profile, matching));
    return {
      findings: compared.flatMap((result) => result.findings),
      notCompared: [...new Set(compared.flatMap((result) => result.notCompared))],
    };
  });
  const all = await Promise.all(checks);
  return {
    findings: all.flatMap((result) => result.findings),
    notCompared: all.flatMap((result) => result.notCompared),
  };
}

/** An answer, or the service's refusal. A service that fails is an error: it may answer the next time. */
async function told(read: Promise<Answer>): Promise<Attempt> {
  return read.catch((error: unknown) => {
    if (!isServiceError(error) || !["forbidden", "not-found", "invalid"].includes(error.failure)) throw error;
    return error;
  });
}

function resourceOf(
  { spec }: Desired,
  plans: readonly PlanEntry[],
  { tiers }: Profile,
): { readonly [name: string]: string } | undefined {
  const tier = own(tiers, String(spec["tier"]));
  const key = own(tier?.components ?? {}, String(spec["component"]));
  const plan = plans.find(
    (offered) =>
      offered.serviceModelKey === tier?.serviceModelKey && offered.productTierKey === tier.productTierKey,
  );
  const resource = plan?.resources.find((candidate) => candidate.key === key);
  if (plan === undefined || resource === undefined || plan.serviceId === "" || resource.id === "")
    return undefined;
  const { serviceId, productTierId, productTierVersion } = plan;
  return { serviceId, resourceId: resource.id, productTierId, productTierVersion };
}

function parametersOf(apis: Json): readonly Parameter[] {
  const create = objectsIn(apis).find(({ verb }) => String(verb).toUpperCase() === "CREATE");
  return objectsIn(create?.["inputParameters"]).flatMap((input): readonly Parameter[] => {
    const { key, options, regex, required, defaultValue, scope } = input;
    const providers = isObject(scope) ? scope["cloudProviders"] : undefined;
    if (typeof key !== "string" || key === "") return [];
    const hasDefault = defaultValue !== undefined && defaultValue !== null && defaultValue !== "";
    return [
      {
        key,
        options: (Array.isArray(options) ? options : []).map(String),
        regex: typeof regex === "string" ? regex : "",
        isRequired: required === true && !hasDefault,
        providers: (Array.isArray(providers) ? providers : []).map((name) => String(name).toLowerCase()),
      },
    ];
  });
}

const known = [...fieldRows(instanceSchema)];

function compare(
  desired: Desired,
  all: readonly Parameter[],
  profile: Profile,
  matching: ReturnType<typeof boundedMatcher>,
): OfferCheck {
  const provider = String(desired.spec["cloudProvider"]).toLowerCase();
  const parameters = all.filter(({ providers }) => providers.length === 0 || providers.includes(provider));
  const notCompared: string[] = [];
  const settings = known.flatMap(([path, row]): readonly NotOffered[] => {
    const parameter = parameters.find(({ key }) => key === wireName(path, row, { profile }));
    const value = desired.spec[path];
    if (value === undefined) {
      if (parameter?.isRequired !== true) return [];
      const message = `${path} is missing, and the service needs it today`;
      return [{ desired, message, hint: optionsHint(parameter) }];
    }
    if (!path.startsWith("config.")) return [];
    if (parameter === undefined) {
      const message = `${path} is not a parameter that the service takes for this component today`;
      return [{ desired, message, hint: "remove it, or ask the service's support" }];
    }
    if (row["x-secret"] === true || !["string", "number", "boolean"].includes(typeof value)) return [];
    const { options, regex } = parameter;
    if (options.length > 0 && !options.includes(String(value))) {
      const message = `${path} is ${withoutUserinfo(String(value))}, which the service does not offer today`;
      return [{ desired, message, hint: optionsHint(parameter) }];
    }
    const matched = regex === "" ? "matches" : matching(regex, String(value));
    if (matched === "unread")
      notCompared.push(`${path} was not compared with the service's pattern for it: ${regex.slice(0, 100)}`);
    if (matched !== "differs") return [];
    const message = `${path} is ${withoutUserinfo(String(value))}, and the service's pattern for it does not match that`;
    return [{ desired, message, hint: `it has to match ${regex.slice(0, 200)}` }];
  });
  const names = new Set(known.map(([path, row]) => wireName(path, row, { profile })));
  const unknown = parameters
    .filter(({ key, isRequired }) => isRequired && !names.has(key))
    .map(({ key }) => ({
      desired,
      message: `the service needs the parameter ${key.slice(0, 100)} today, which this version of graphform does not know`,
      hint: "a create would be refused: update graphform, or make the instance at the service and import it",
    }));
  return { findings: [...settings, ...unknown], notCompared };
}

function optionsHint({ options }: Parameter): string {
  const shown = options.slice(0, 20).join(", ");
  return options.length === 0 ? "write it down" : `offered: ${shown}${options.length > 20 ? ", ..." : ""}`;
}
