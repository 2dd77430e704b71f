/** @module Moves the state of a manifest to another store. */
import { resolve } from "node:path";
import { storeTypes } from "../../manifest/state-shape.ts";
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import type { SettingKey } from "../../project/environment-variables.ts";
import { openStore } from "../../project/open-store.ts";
import type { StatePlace } from "../../project/place.ts";
import { addressOf, placeAt, sectionOf } from "../../project/place-address.ts";
import { openProject, type Project } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import type { Side } from "../../project/state-credentials.ts";
import { declaredPlace, filePlace } from "../../project/state-place.ts";
import { whileHeld } from "../../project/while-held.ts";
import { amount } from "../../report/amounts.ts";
import { escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import { type Move, type MoveEnd, moveState } from "../../state/move-state.ts";
import type { ManifestOptions } from "../options.ts";
import type { Terminal } from "../terminal.ts";

/** Options of `state migrate`. */
export interface MigrateOptions extends ManifestOptions {
  /** A path, a URL, or the type of a store. */
  readonly to: string;
  readonly json?: boolean;
}

/** `state migrate --to PLACE`: moves the state under both locks, and prints what the manifest has to say from now on. */
export async function stateMigrate(
  options: MigrateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const project = await openProject(options, settings);
  const { header, folder } = project;
  const place = placeOf(options.to, project);
  if (fullAddress(place) === fullAddress(project.place))
    throw new GraphformError("state-same", `the state is at ${project.store.where} already`, {
      hint: "name another place with --to, or the old one with --state",
    });
  const fresh = openStore(place, settings, {
    name: header.name,
    folder,
    side: sideOf(project.place, place, settings),
  });
  try {
    await fresh.prepare();
    const { state, isResumed } = await moveUnderLocks(project, fresh, place, options.lockTimeout ?? 0);
    const resources = Object.keys(state.resources).length;
    const section = sectionOf(place);
    if (options.json === true) {
      const facts = {
        from: project.store.where,
        to: fresh.where,
        serial: state.serial,
        resources,
        isResumed,
      };
      terminal.out(`${jsonText({ ...facts, section })}\n`);
    } else {
      const [from, to] = [escapeText(project.store.where, 300), escapeText(fresh.where, 300)];
      terminal.out(`The state is at ${to} now: version ${state.serial}, ${amount(resources, "resource")}.\n`);
      terminal.out(`${from} refuses every run from here on. Write in the manifest:\n\n${section}`);
    }
    return exitCodes.done;
  } finally {
    await Promise.all([project.store.close(), fresh.close()]);
  }
}

async function moveUnderLocks(
  { store, place, header }: Project,
  fresh: Project["store"],
  to: StatePlace,
  timeout: number,
): Promise<Move> {
  const clock = systemClock;
  const operation = "state migrate";
  const oldLock = await store.lock(operation, { clock, timeout });
  return whileHeld(oldLock, async () => {
    const freshLock = await fresh.lock(operation, { clock, timeout });
    return whileHeld(freshLock, () => {
      const old: MoveEnd = { store, address: fullAddress(place), lock: oldLock };
      const next: MoveEnd = { store: fresh, address: fullAddress(to), lock: freshLock };
      return moveState(old, next, header.name, clock);
    });
  });
}

/** The place that --to names: a type means what the manifest says of it, or its defaults. */
function placeOf(to: string, { header, folder }: Project): StatePlace {
  const type = storeTypes.find((known) => known === to);
  if (type === undefined) return placeAt(to, header.name);
  if (type === "file") return filePlace(header, folder);
  const place = declaredPlace(header, type);
  const missing =
    (place.type === "http" && place.address === "") || (place.type === "s3" && place.bucket === "");
  if (!missing) return place;
  throw new GraphformError("state-address", `--to ${type} does not say where`, {
    hint: type === "s3" ? "name it like --to s3://BUCKET/KEY" : "name it like --to https://HOST/PATH",
  });
}

/**
 * The credentials for the new place: those of GRAPHFORM_STATE_TO_* where they are set. Those of the old place go to another HTTP
 * host never.
 */
function sideOf(from: StatePlace, to: StatePlace, settings: Settings): Side {
  const others: readonly SettingKey[] =
    to.type === "postgres" ? ["stateToPostgresUrl"] : ["stateToUsername", "stateToPassword", "stateToToken"];
  if (others.some((key) => settings.get(key) !== undefined)) return "stateTo";
  const [old, fresh] = [from, to].map((place) =>
    place.type === "http" ? URL.parse(place.address)?.origin : undefined,
  );
  return old !== undefined && fresh !== undefined && old !== fresh ? "stateTo" : "state";
}

/** The address that leads there from any folder. */
function fullAddress(place: StatePlace): string {
  return place.type === "file" ? resolve(place.path) : addressOf(place);
}
