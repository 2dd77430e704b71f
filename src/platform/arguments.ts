/** @module Reads the command line of the platform's program into its options. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { type FaultRule, parseFaultRules } from "./control/faults.ts";
import { type DialectName, dialectNames } from "./dialect/dialect.ts";
import { type OperationName, operationNames } from "./model/records.ts";
import type { PlatformOptions } from "./options.ts";

/** A command line that cannot be used; the message names the argument and its allowed values. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
}

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;

const known = {
  "data-dir": text,
  port: text,
  "users-port": text,
  profile: text,
  "failover-path": text,
  "page-size": text,
  host: text,
  engine: text,
  faults: text,
  "session-lifetime": text,
  "refresh-lifetime": text,
  delay: text,
  "stale-status": text,
  echo: flag,
  networks: text,
  "auto-bootstrap": flag,
  "snapshot-interval": text,
  "users-per-minute": text,
} as const;

/** Names of the options of the platform's program. */
export const argumentNames: readonly string[] = Object.keys(known);

/**
 * Options from `argv`. `--delay`, `--stale-status` and `--snapshot-interval` are milliseconds, lifetimes are seconds; `--faults`
 * names a JSON or YAML file. Throws ArgumentError.
 */
export async function readArguments(argv: readonly string[]): Promise<PlatformOptions> {
  const values = parseValues(argv);
  const number = (name: keyof typeof values): number | undefined => {
    const given = values[name];
    if (typeof given !== "string") return undefined;
    if (!/^[0-9]+(\.[0-9]+)?$/.test(given))
      throw new ArgumentError(`--${name} must be a number, not ${given}`);
    return Number(given);
  };
  const set = <K extends keyof PlatformOptions>(key: K, value: PlatformOptions[K] | undefined): object =>
    value === undefined ? {} : { [key]: value };
  const networks = oneOf("networks", values.networks, ["full", "adopt-only"] as const);
  const profile: DialectName | undefined = oneOf("profile", values.profile, dialectNames);
  const failoverPath = oneOf("failover-path", values["failover-path"], [
    "node",
    "component",
    "either",
  ] as const);
  return {
    dataDir: resolve(values["data-dir"] ?? ".graphform/platform"),
    port: number("port") ?? 0,
    ...set("usersPort", number("users-port")),
    ...set("profile", profile),
    ...set("failoverPath", failoverPath),
    ...set("pageSize", number("page-size")),
    ...set("host", values.host),
    ...set("engine", values.engine),
    ...set("faults", values.faults === undefined ? undefined : await readFaults(values.faults)),
    ...set("sessionLifetime", number("session-lifetime")),
    ...set("refreshLifetime", number("refresh-lifetime")),
    ...set("delays", values.delay === undefined ? undefined : readDelays(values.delay)),
    ...set("staleStatus", number("stale-status")),
    ...set("echo", values.echo),
    ...set("networks", networks),
    ...set("autoBootstrap", values["auto-bootstrap"]),
    ...set("snapshotInterval", number("snapshot-interval")),
    ...set("usersPerMinute", number("users-per-minute")),
  };
}

function oneOf<T extends string>(
  name: string,
  given: string | undefined,
  allowed: readonly T[],
): T | undefined {
  const found = allowed.find((value) => value === given);
  if (given === undefined || found !== undefined) return found;
  throw new ArgumentError(`--${name} must be ${allowed.join(" or ")}, not ${given}`);
}

type Values = ReturnType<typeof parseKnown>;

function parseKnown(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    strict: true,
    options: known,
  }).values;
}

function parseValues(argv: readonly string[]): Values {
  try {
    return parseKnown(argv);
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** `500` for all operationNames, or `create=500,update=200`. */
function readDelays(given: string): number | { readonly [name in OperationName]?: number } {
  if (/^[0-9]+$/.test(given)) return Number(given);
  const delays: { [name in OperationName]?: number } = {};
  for (const part of given.split(",")) {
    const [name, ms] = part.split("=");
    const operation = operationNames.find((operationName) => operationName === name);
    if (operation === undefined || ms === undefined || !/^[0-9]+$/.test(ms)) {
      throw new ArgumentError(
        `--delay is a number of ms, or operation=ms,... with ${operationNames.join(", ")}; not ${part}`,
      );
    }
    delays[operation] = Number(ms);
  }
  return delays;
}

async function readFaults(path: string): Promise<readonly FaultRule[]> {
  let document: unknown;
  try {
    document = parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new ArgumentError(
      `cannot read fault rules from ${path}: ${error instanceof Error ? error.message : error}`,
    );
  }
  const rules = parseFaultRules(JSON.parse(JSON.stringify(document ?? [])));
  if (typeof rules === "string") throw new ArgumentError(`${path}: ${rules}`);
  return rules;
}
