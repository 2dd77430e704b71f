/** @module Makes the errors of requests whose subscription is not known. */

import { GraphformError, ServiceError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Call } from "../../model/service.ts";

/** A tier has several subscriptions, and none is chosen. */
export function ambiguous(tier: string, ids: readonly string[]): GraphformError {
  return new GraphformError(
    "subscription-ambiguous",
    `the ${tier} tier has ${ids.length} active subscriptions: ${ids.slice(0, 5).join(", ")}`,
    { hint: `name one: service.subscriptions.${tier}` },
  );
}

/** A create in a tier without a subscription. */
export function noSubscription(operation: string, tier: string): ServiceError {
  return new ServiceError("invalid", operation, `${operation}: there is no active subscription to ${tier}`, {
    wasSent: false,
    hint: noSubscriptionHint(tier),
  });
}

/** The way out where a tier has no subscription. */
export function noSubscriptionHint(tier: string): string {
  return `subscribe to the plan at the service, or name a subscription: service.subscriptions.${tier}, GRAPHFORM_SUBSCRIPTION_ID or --subscription`;
}

/** The service shows no subscription of an instance. */
export function unknownInstance({ operation }: Call, id: string): ServiceError {
  return new ServiceError("invalid", operation, `${operation}: the service shows no subscription of ${id}`, {
    wasSent: false,
    hint: "name the subscription: service.subscriptions or --subscription",
  });
}

/** The look-up itself was refused. */
export function notLookedUp(error: ServiceError): ServiceError {
  const { failure, operation, message, status } = error;
  return new ServiceError(failure, operation, `the subscriptions cannot be looked up: ${message}`, {
    ...defined({ status }),
    wasSent: false,
    cause: error,
    hint: "name them instead: service.subscriptions, GRAPHFORM_SUBSCRIPTION_ID or --subscription",
  });
}
