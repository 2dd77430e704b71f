/** @module Claims a state for one service, and refuses a state that belongs to another one. */
import { GraphformError } from "../model/errors.ts";
import { localPrefix, type ServiceIdentity, serviceDifferences } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { reduce } from "./reducer.ts";

/** The claim: the service of this run, and the state's path for messages. */
export interface Claim {
  readonly service: ServiceIdentity;
  /** The state's path or address, for people. */
  readonly where: string;
}

/**
 * The state as that of a service: a state that binds nothing, or that was written before states knew their service, takes
 * it over, and the next write records it. Throws `state-service` where the state belongs to another one: everything would
 * be created again there, and the bound ids forgotten.
 */
export function claimState(state: StateDocument, { service, where }: Claim): StateDocument {
  if (state.service === undefined || isEmpty(state))
    return reduce(state, { type: "service-recorded", service });
  assertSameService(state.service, service, `the state ${where}`, wayOut(state.service, service));
  const keys = { ...state.service.keys, ...service.keys };
  const locations = { ...state.service.locations, ...service.locations };
  const subscriptions = service.subscriptions && {
    subscriptions: { ...state.service.subscriptions, ...service.subscriptions },
  };
  const merged = { ...service, keys, locations, ...subscriptions };
  return reduce(state, { type: "service-recorded", service: merged });
}

/** Throws `state-service` where two identities are not one service. `owned` names what belongs to the first one, for the message. */
export function assertSameService(
  recorded: ServiceIdentity,
  current: ServiceIdentity,
  owned: string,
  hint: string,
): void {
  const differences = serviceDifferences(recorded, current);
  if (differences.length === 0) return;
  const message = `${owned} belongs to another service: ${differences.join("; ")}`;
  throw new GraphformError("state-service", message, { hint });
}

/** True where a state binds nothing and looks for nothing: it belongs to nobody. */
export function isEmpty({ resources, intents }: StateDocument): boolean {
  return Object.keys(resources).length === 0 && Object.keys(intents).length === 0;
}

function wayOut(recorded: ServiceIdentity, current: ServiceIdentity): string {
  const [wasLocal, isLocal] = [recorded, current].map(({ platform }) => platform.startsWith(localPrefix));
  const other =
    wasLocal && isLocal
      ? "the data folder of the local platform was created again, or is another one: name another state with --state, or move this one away"
      : `${wasLocal ? "start that local platform again" : "use the settings of that service"}, or name another state with --state`;
  return `${other}; if everything is still there: graphform state rebind`;
}
