/** @module Serves create, list, describe, update, delete, power and metadata of instances. */
import type { Context, Hono } from "hono";
import { isObject } from "../../../model/json.ts";
import { readAccount } from "../../control/account-rules.ts";
import { addAccount, removeAccount } from "../../control/accounts.ts";
import { createInstance } from "../../control/new-instance.ts";
import { readCreate, readUpdate } from "../../control/validate.ts";
import type { Core } from "../../core.ts";
import type { Located } from "../../dialect/dialect.ts";
import { checkInDialect, ownBody, ownCreate } from "../../dialect/params.ts";
import { knownVersion, preferredVersion } from "../../model/plans.ts";
import { ServiceError } from "../../model/service-error.ts";
import { describeInstance } from "../answers/describe.ts";
import { componentPath, version } from "../contract.ts";
import type { Env, Exchange } from "../exchange.ts";
import { objectOf, tagsOf } from "../object-of.ts";
import { databaseOf, instanceOf, isVisible, locateComponent, placeOf, subscriptionFor } from "./locate.ts";
import { accepted, paged, pathParam, sessionRoutes } from "./router.ts";

/** Registers the operations on instances (specification 4.7). */
export function instanceEndpoints(app: Hono<Env>, core: Core): void {
  const route = sessionRoutes(app, core);
  const component = componentPath(core.dialect);

  route("POST", component, "create", async (context, exchange) => {
    const place = locateComponent(core, context);
    const id = await (place.isAccount ? createAccount : create)(core, place, context, exchange);
    return context.json({ id }, 202);
  });

  route("GET", component, "list", (context, { fault }) => {
    const { plan, component: found } = locateComponent(core, context);
    const shown = core.store.instances
      .list()
      .filter(
        (record) =>
          record.tier === plan.tier && record.component === found.id && isVisible(core, context, record),
      );
    const { items, more } = paged(core, context, fault.missingFromList ? shown.slice(0, -1) : shown);
    return context.json({ ids: items.map(({ id }) => id), ...more });
  });

  route("GET", `${version}/resource-instance`, "list-all", (context, { fault }) => {
    const shown = core.store.instances.list().filter((record) => isVisible(core, context, record));
    const all = fault.missingFromList ? shown.slice(0, -1) : shown;
    const { items, more } = paged(core, context, all);
    const described = items.map((record) => ({
      resourceID: record.resourceId,
      ...describeInstance(core, record),
    }));
    return context.json({ resourceInstances: described, ...more });
  });

  route("GET", `${component}/:id`, "describe", (context) =>
    context.json(describeInstance(core, instanceOf(core, context))),
  );

  for (const method of core.dialect.updateMethods) {
    route(method, `${component}/:id`, "update", async (context, exchange) => {
      const record = databaseOf(core, context);
      const body = ownBody(core.dialect, exchange.body ?? null);
      const changed = checkInDialect(core.dialect, () => readUpdate(body, placeOf(core, record), record));
      const password = changed.params["graphdbPassword"];
      if (typeof password === "string") core.secrets.add(password);
      await core.lifecycle.operate(record.id, "update", exchange.fault, {
        ...changed,
        customTags: tagsOf(body),
      });
      return accepted();
    });
  }

  route("DELETE", `${component}/:id`, "delete", async (context, { fault }) => {
    const record = instanceOf(core, context);
    if (record.isAccount) await removeAccount(core, record);
    else await core.lifecycle.operate(record.id, "delete", fault);
    return accepted();
  });

  for (const name of ["start", "stop", "restart"] as const) {
    route("POST", `${component}/:id/${name}`, name, async (context, { fault }) => {
      await core.lifecycle.operate(databaseOf(core, context).id, name, fault);
      return accepted();
    });
  }

  route("PATCH", `${component}/:id/metadata`, "metadata", async (context, exchange) => {
    const record = instanceOf(core, context);
    const body = objectOf(exchange.body, ["deletionProtection", "customTags"]);
    const { deletionProtection: protection } = body;
    if (protection !== undefined && typeof protection !== "boolean") {
      throw new ServiceError(400, "deletionProtection must be true or false");
    }
    const tags = tagsOf(body);
    await core.store.instances.update(record.id, (now) => ({
      ...now,
      deletionProtection: protection ?? now.deletionProtection,
      customTags: tags ?? now.customTags,
      lastModified: core.timestamp(),
    }));
    core.events.add(record.id, `metadata changed: ${Object.keys(body).join(", ")}`);
    return accepted();
  });

  route("GET", `${version}/resource-instance/:id/audit-events`, "audit-events", (context) => {
    const id = pathParam(context, "id");
    const record = core.store.instances.get(id);
    const { items, more } = paged(core, context, core.events.recent(id));
    const events = items.map(({ id: number, time, message, isFailure }) => ({
      id: `event-${number}`,
      time,
      message,
      resourceInstanceId: id,
      resourceName: record?.component ?? "",
      subscriptionId: record?.subscriptionId ?? "",
      userName: core.credentials.username,
      workflowFailures: isFailure ? [{ eventTime: time, message }] : [],
    }));
    return context.json({ events, ids: events.map((event) => event.id), ...more });
  });
}

async function create(
  core: Core,
  place: Located,
  context: Context<Env>,
  exchange: Exchange,
): Promise<string> {
  const { plan, component: found } = place;
  if (found.nodes.length === 0)
    throw new ServiceError(400, `the local platform does not run ${found.key}: it has no clusters`);
  const body = ownCreate(core.dialect, exchange.body ?? null, plan.tier);
  const wanted = checkInDialect(core.dialect, () =>
    readCreate(body, {
      tier: plan.tier,
      component: found.id,
      instanceTypes: core.instanceTypes,
    }),
  );
  return createInstance(
    core,
    {
      ...wanted,
      tier: plan.tier,
      component: found.id,
      resourceId: found.resourceId,
      planVersion: planVersionOf(exchange),
      subscriptionId: subscriptionFor(core, context, plan.tier),
      customTags: tagsOf(body) ?? [],
    },
    exchange.fault,
  );
}

async function createAccount(
  core: Core,
  place: Located,
  context: Context<Env>,
  exchange: Exchange,
): Promise<string> {
  const body = exchange.body ?? null;
  const subscriptionId = context.req.query("subscriptionId") ?? "";
  if (subscriptionId === "") throw new ServiceError(400, "query parameter subscriptionId is required");
  return addAccount(
    core,
    {
      tier: place.plan.tier,
      component: place.component.id,
      resourceId: place.component.resourceId,
      subscriptionId,
      customTags: tagsOf(body) ?? [],
    },
    readAccount(body),
    exchange.fault,
  );
}

/** The requested plan version, or the preferred one. */
function planVersionOf({ body }: Exchange): string {
  const asked = isObject(body) ? (body["productTierVersion"] ?? preferredVersion) : preferredVersion;
  if (typeof asked !== "string") throw new ServiceError(400, "productTierVersion must be a string");
  return knownVersion(asked);
}
