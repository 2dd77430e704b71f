import { instanceSchema } from "../fields/instance.ts";
import { type PlanEntry, planEntries } from "../hosting/plan-catalogue.ts";
import type { Desired } from "../model/desired.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import { own } from "../model/own.ts";
import type { Profile } from "../model/profile.ts";
import type { Reads } from "../model/service.ts";

/** A declared setting that the service does not offer as it is written. */
export interface NotOffered {
  readonly desired: Desired;
  readonly message: string;
  readonly hint: string;
}

/** What was compared: what is not offered, and the places that the service told nothing of. */
export interface OfferCheck {
  readonly findings: readonly NotOffered[];
  readonly untold: readonly string[];
}

/** One parameter that a create takes today. */
interface Parameter {
  readonly key: string;
  readonly options: readonly string[];
  readonly isRequired: boolean;
  /** The cloud providers that it is meant for, in small letters; empty: all. */
  readonly providers: readonly string[];
}

/** True where the profile can ask for what a create takes. */
export function canCheckOffer(service: Reads): boolean {
  return service.offers("plans.list") && service.offers("plans.parameters");
}

/**
 * Compares declared instances with the parameters that the service takes today: names, options such as instance types, and
 * what it needs. Asks once for each tier and component.
 */
export async function checkOffer(
  desired: readonly Desired[],
  service: Reads,
  signal: AbortSignal,
): Promise<OfferCheck> {
  const plans = planEntries((await service.read({ operation: "plans.list", params: {} }, signal)).body);
  const byPlace = new Map<string, Desired[]>();
  for (const entry of desired.filter(({ kind }) => kind === "instances")) {
    const key = `${String(entry.spec["tier"])} ${String(entry.spec["component"])}`;
    byPlace.set(key, [...(byPlace.get(key) ?? []), entry]);
  }
  const checks = [...byPlace].map(async ([place, entries]): Promise<OfferCheck> => {
    const [first] = entries;
    const found = first === undefined ? undefined : resourceOf(first, plans, service.profile);
    if (found === undefined) return { findings: [], untold: [place] };
    const { values } = await service.read({ operation: "plans.parameters", params: found }, signal);
    const parameters = parametersOf(values["items"] ?? null);
    if (parameters.length === 0) return { findings: [], untold: [place] };
    const compare = (entry: Desired): readonly NotOffered[] => notOffered(entry, parameters, service.profile);
    return { findings: entries.flatMap(compare), untold: [] };
  });
  const all = await Promise.all(checks);
  return { findings: all.flatMap((each) => each.findings), untold: all.flatMap((each) => each.untold) };
}

function resourceOf(
  { spec }: Desired,
  plans: readonly PlanEntry[],
  { tiers }: Profile,
): { readonly [name: string]: string } | undefined {
  const tier = own(tiers, String(spec["tier"]));
  const key = own(tier?.components ?? {}, String(spec["component"]));
  const plan = plans.find(
    (each) => each.serviceModelKey === tier?.serviceModelKey && each.productTierKey === tier.productTierKey,
  );
  const resource = plan?.resources.find((each) => each.key === key);
  if (plan === undefined || resource === undefined || plan.serviceId === "" || resource.id === "")
    return undefined;
  const { serviceId, productTierId, productTierVersion } = plan;
  return { serviceId, resourceId: resource.id, productTierId, productTierVersion };
}

function parametersOf(apis: Json): readonly Parameter[] {
  const create = (Array.isArray(apis) ? apis : [])
    .filter(isObject)
    .find(({ verb }) => String(verb).toUpperCase() === "CREATE");
  const inputs = create?.["inputParameters"];
  return (Array.isArray(inputs) ? inputs : []).filter(isObject).flatMap((input): readonly Parameter[] => {
    const { key, options, required, defaultValue, scope } = input;
    const providers = isObject(scope) ? scope["cloudProviders"] : undefined;
    if (typeof key !== "string" || key === "") return [];
    const hasDefault = defaultValue !== undefined && defaultValue !== null && defaultValue !== "";
    return [
      {
        key,
        options: (Array.isArray(options) ? options : []).map(String),
        isRequired: required === true && !hasDefault,
        providers: (Array.isArray(providers) ? providers : []).map((name: Json) =>
          String(name).toLowerCase(),
        ),
      },
    ];
  });
}

function notOffered(
  desired: Desired,
  parameters: readonly Parameter[],
  { fields }: Profile,
): readonly NotOffered[] {
  const rows = Object.keys(instanceSchema.properties["config"]?.properties ?? {});
  const config: JsonObject = isObject(desired.spec["config"]) ? desired.spec["config"] : {};
  return rows.flatMap((name): readonly NotOffered[] => {
    const path = `config.${name}`;
    const key = own(fields, name) ?? name;
    const parameter = parameters.find((each) => each.key === key && isMeantFor(each, desired));
    const value = own(config, name);
    if (value === undefined) {
      if (parameter?.isRequired !== true) return [];
      const message = `${path} is missing, and the service needs it today`;
      return [{ desired, message, hint: optionsHint(parameter) }];
    }
    if (parameter === undefined) {
      const message = `${path} is no parameter that the service takes for this component today`;
      return [{ desired, message, hint: "remove it, or ask the service's support" }];
    }
    const isPlain = ["string", "number", "boolean"].includes(typeof value);
    if (!isPlain || parameter.options.length === 0 || parameter.options.includes(String(value))) return [];
    const message = `${path} is ${String(value)}, which the service does not offer today`;
    return [{ desired, message, hint: optionsHint(parameter) }];
  });
}

function isMeantFor({ providers }: Parameter, { spec }: Desired): boolean {
  return providers.length === 0 || providers.includes(String(spec["cloudProvider"]).toLowerCase());
}

function optionsHint({ options }: Parameter): string {
  const shown = options.slice(0, 20).join(", ");
  return options.length === 0 ? "write it down" : `offered: ${shown}${options.length > 20 ? ", ..." : ""}`;
}
