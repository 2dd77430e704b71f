/** @module Asks and changes the running database of an instance, as its declared user, and says why one could not be asked. */
import { isDatabaseError } from "../database/failures.ts";
import type { DatabaseSettings } from "../database/parameters.ts";
import { instanceSchema } from "../fields/instance.ts";
import { asError, ServiceError } from "../model/errors.ts";
import { fieldRows, parameterOf } from "../model/field-schema.ts";
import { defined, isObject, type Json, type JsonObject, textIn } from "../model/json.ts";
import type { DatabaseLogin, Usable } from "../model/kind.ts";
import type { Live } from "../model/observed.ts";
import {
  notAsked,
  type ProbeAnswer,
  type ProbeRequest,
  type ProbeTrouble,
  type RawValue,
  refusedAt,
  unanswered,
} from "../model/probe.ts";
import type { Reads, Service } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";
import { asTyped, engineValue } from "../model/values.ts";
import type { AskRole, Endpoint } from "./instance-operations.ts";
import { wireName } from "./resource.ts";

const rows = fieldRows(instanceSchema);
const passwordPath = "config.graphdbPassword";

/** Asks for all settings at once. A wrong password is sure only of a user whose name is declared too. */
export async function probeInstance(
  { live, spec }: ProbeRequest,
  service: Reads,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const target = declaredTarget(live.outputs, spec, service);
  if (typeof target === "string") return notAsked(target);
  // Loaded here: a plan without a probe need not wait for the client to load.
  const { probe } = await import("../database/parameters.ts");
  try {
    return answerOf(await probe(target, signal), speaksTls(spec));
  } catch (error) {
    if (signal.aborted) throw error;
    if (isDatabaseError(error) && error.failure === "no-tls")
      return { is: "answered", values: { "config.enableTLS": false } };
    return answerTo(error, spec, typeof spec["config.graphdbUser"] === "string" ? passwordPath : undefined);
  }
}

function answerOf({ parameters, info, engine, denied }: DatabaseSettings, isTls: boolean): ProbeAnswer {
  const values = [...rows].flatMap(([path, { "x-probe": row }]): [string, RawValue][] => {
    if (row === undefined) return [];
    if ("connection" in row) return [[path, row.connection === "login" ? true : isTls]];
    // Only the primary counts its replicas.
    if ("info" in row && row.reading === "nodes" && info["role"] !== "master") return [];
    const value = "info" in row ? info[row.info] : parameters[row.parameter];
    return value === undefined ? [] : [[path, value]];
  });
  return {
    is: "answered",
    values: Object.fromEntries(values),
    ...defined({ identity: info["run_id"], engine }),
    ...(denied.length === 0 ? {} : { denied: `its user may not run ${denied.join(", ")}` }),
  };
}

/** Sets parameters in the running database; throws a ServiceError that says whether it may have worked. */
export async function healInstance(
  { live, spec }: ProbeRequest,
  paths: readonly string[],
  service: Service,
  signal: AbortSignal,
): Promise<void> {
  const operation = "GRAPH.CONFIG SET";
  const target = declaredTarget(live.outputs, spec, service);
  if (typeof target === "string")
    throw new ServiceError("invalid", operation, `${operation}: ${notAsked(target).reason}`);
  const { setParameters } = await import("../database/parameters.ts");
  try {
    await setParameters(target, parametersOf(paths, spec), signal);
  } catch (cause) {
    if (signal.aborted) throw cause;
    const isLost = isDatabaseError(cause) && cause.failure !== "refused-credentials";
    const said = isDatabaseError(cause) ? cause.message : service.hide(asError(cause).message);
    const message = `${operation}: ${said}`;
    throw new ServiceError(isLost ? "lost" : "invalid", operation, message, { mayHaveWorked: isLost, cause });
  }
}

/** The logins of all nodes: of the address of the instance if it has one node. */
export function loginsOf(
  { live, spec }: ProbeRequest,
  nodes: readonly (Endpoint | undefined)[],
  service: Reads,
): readonly DatabaseLogin[] | string {
  const addresses = nodes.length > 1 ? nodes : [live.outputs];
  const found = addresses.map((address) => declaredTarget({ ...address }, spec, service));
  const trouble = found.find((target) => typeof target === "string");
  if (typeof trouble === "string") return notAsked(trouble).reason;
  return found.filter((target) => typeof target !== "string");
}

function parametersOf(
  paths: readonly string[],
  spec: ProbeRequest["spec"],
): { readonly [parameter: string]: number | string } {
  const pairs = paths.flatMap((path): [string, number | string][] => {
    const [row, value] = [rows.get(path), spec[path]];
    const parameter = row === undefined ? undefined : parameterOf(row);
    const probe = row?.["x-probe"];
    if (parameter === undefined || value === undefined || probe === undefined || "connection" in probe)
      return [];
    // Values that are read back rounded are not set; -1 means no limit of rows.
    const sent = engineValue(probe.reading, value);
    return typeof sent === "boolean" ? [] : [[parameter, sent]];
  });
  return Object.fromEntries(pairs);
}

/** Asks a node for its role, with the login that the service repeats among the parameters of its instance. A service may not repeat its TLS: `applied` has it. */
export function roleAsker(
  resultParams: Json | undefined,
  applied: Spec,
  service: Reads,
  signal: AbortSignal,
): AskRole {
  const shown = isObject(resultParams) ? resultParams : {};
  const [username, password, tls] = ["graphdbUser", "graphdbPassword", "enableTLS"].map((name) => {
    const row = rows.get(`config.${name}`);
    return row === undefined ? undefined : shown[wireName(`config.${name}`, row, service)];
  });
  return async (address) => {
    const isTls = speaksTls(defined({ "config.enableTLS": tls })) || speaksTls(applied);
    const target = targetOf({ ...address }, { username, password }, isTls, service);
    if (typeof target === "string") return undefined;
    const { askAtOnce } = await import("../database/connection.ts");
    const [reply] = await askAtOnce(target, [["ROLE"]], signal).catch((): readonly unknown[] => []);
    signal.throwIfAborted();
    const [role] = Array.isArray(reply) ? reply : [];
    return role === "master" ? "primary" : role === "slave" ? "replica" : undefined;
  };
}

/** One PING as the declared user; if the network cannot be reached from here, the result is unknown. */
export async function isInstanceUsable(
  shown: Live,
  spec: Spec,
  service: Service,
  signal: AbortSignal,
): Promise<Usable> {
  const target = declaredTarget(shown.outputs, spec, service);
  if (typeof target === "string") return { is: "unknown", detail: "" };
  const { timeout: _patience, ...rest } = target;
  const { ping } = await import("../database/parameters.ts");
  const verdict = await ping(rest, signal);
  const where = `${target.host}:${target.port}`;
  if (verdict === "answered") return { is: "usable", detail: "" };
  if (verdict === "refused-credentials")
    return { is: "not-yet", detail: `${where} refuses the declared user and password` };
  if (isPrivate(spec)) return { is: "unknown", detail: "" };
  // Waiting helps no trust.
  if (verdict === "not-trusted")
    return {
      is: "unknown",
      detail: `the certificate of ${where} is not trusted here: name the file of its authority in GRAPHFORM_CA_FILE`,
    };
  return { is: "not-yet", detail: `the service says it runs, but ${where} does not answer from here` };
}

/** Longest time for one database, in ms. */
const longest = 3000;

/** The database at an instance's outputs, as its declared user; the cause if it cannot be asked. */
function declaredTarget(outputs: JsonObject, spec: Spec, service: Reads): DatabaseLogin | ProbeTrouble {
  const login = { username: spec["config.graphdbUser"], password: spec[passwordPath] };
  return targetOf(outputs, login, speaksTls(spec), service);
}

/** True unless the value says false, in whatever spelling: a login must not be sent in clear to a database with TLS. */
export function speaksTls({ "config.enableTLS": value = false }: Spec): boolean {
  return value !== null && asTyped(value, "boolean") !== false;
}

export function targetOf(
  outputs: JsonObject,
  { username, password }: { readonly [part in "username" | "password"]: Json | undefined },
  isTls: boolean,
  { caFile, patience = longest, hide }: Pick<Reads, "caFile" | "patience" | "hide">,
): DatabaseLogin | ProbeTrouble {
  const { host, port } = outputs;
  if (typeof host !== "string" || typeof port !== "number") return "no-endpoint";
  if (typeof password !== "string") return "no-password";
  const tls = isTls ? (caFile === undefined ? true : { caFile }) : false;
  const timeout = Math.min(patience, longest);
  return { host, port, password, tls, timeout, hide, ...defined({ username: textIn(username) }) };
}

/** True for an instance in a private network: it is expected not to answer from here. */
function isPrivate(spec: Spec): boolean {
  return spec["networkType"] === "INTERNAL" || (spec["network"] ?? null) !== null;
}

/** `path`: the password that the answer surely disproves. `instance`: values of the instance of the database. */
export function answerTo(error: unknown, instance: Spec, path: string | undefined): ProbeAnswer {
  if (!isDatabaseError(error)) return unanswered("cut");
  const { failure, obstacle } = error;
  if (failure === "refused-credentials")
    return error.isWrongPassword && path !== undefined ? refusedAt(path) : unanswered("login-refused");
  if (failure === "no-tls") return unanswered("no-tls");
  const isOutside = failure === "unresolved" || obstacle === "refused" || obstacle === "silent";
  if (isOutside && isPrivate(instance)) return unanswered("private");
  return unanswered(failure === "unresolved" ? "unresolved" : obstacle);
}
