import type { WireRequest } from "../../src/hosting/wire/transport.ts";
import type { Clock } from "../../src/model/clock.ts";
import { ServiceError, type ServiceFailure } from "../../src/model/errors.ts";
import { defined } from "../../src/model/json.ts";
import type { Answer, Call, Service } from "../../src/model/service.ts";
import type { Effect, Fault } from "./case.ts";
import type { Oracle } from "./oracle.ts";
import { overTheWire, type Travel } from "./over-the-wire.ts";
import type { Proc } from "./proc.ts";
import { type Ending, objectOf } from "./registry.ts";
import { handle, type Sender } from "./service-model.ts";
import type { World } from "./world.ts";

/** A process's connection to the service: requests travel, work or don't, and their answers travel back or don't. */
export function connection(
  process: Proc,
  world: World,
  oracle: Oracle,
  clock: Clock,
): Service & { ping(id: string): Promise<boolean> } {
  const { schedule, dice, profile, registry, gate } = world;
  const sender: Sender = oracle.sender(process);
  const latency = (): number => world.latency * (0.2 + 1.6 * dice.next());

  let date: number | undefined;

  const request = (
    call: Call,
    on: Fault["on"] | undefined,
    isWrite: boolean,
    signal: AbortSignal,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { operation } = call;
      if (signal.aborted) {
        reject(failure("aborted", operation, false, { wasSent: false }));
        return;
      }
      const effect = on === undefined ? undefined : process.takeFault(on);
      world.tell(
        `${process.name} -> ${operation} ${call.params["id"] ?? ""} ${JSON.stringify(call.body ?? {})} ${effect ?? ""}`,
      );
      const fate = fates[effect ?? "none"] ?? {};
      let isSettled = false;
      // A slow request waits in the client, behind others and refusals: what gives up meanwhile was never sent.
      let isSent = effect !== "slow";
      let isOnItsWay = true;
      const settle = (error: ServiceError | undefined, answer?: Answer): void => {
        if (isSettled || process.dead) return;
        isSettled = true;
        process.pending.delete(pending);
        const told = error === undefined ? JSON.stringify(answer?.values) : error.message;
        world.tell(`${process.name} <- ${operation} ${told}`);
        if (error === undefined || error.status !== undefined) date = serviceDate(world);
        if (error !== undefined) reject(error);
        else if (answer !== undefined) resolve(answer);
      };
      /** A mistake of the client's own, after the request has left. */
      const throwing = (): void => {
        if (isSettled || process.dead) return;
        isSettled = true;
        process.pending.delete(pending);
        reject(new RangeError("Maximum call stack size exceeded"));
      };
      const pending = {
        signal,
        give: () => {
          isOnItsWay &&= isSent && dice.is(0.5);
          settle(failure("aborted", operation, isWrite, isSent ? {} : { wasSent: false }));
        },
      };
      process.pending.add(pending);
      const work = (): void => {
        if (effect === "wrong-all" || effect === "wrong-some" || effect === "wrong-lists")
          registry.moments.begin(effect);
        if (process.dead && isOnItsWay) isOnItsWay = dice.is(0.5);
        let error = fate.refusal === undefined ? undefined : failure(fate.refusal, operation, false, fate);
        let answer: Answer | undefined;
        if (error === undefined && fate.works !== false && isOnItsWay) {
          try {
            answer = isSession(call)
              ? { values: {}, body: null }
              : handle(call, registry, sender, fate.ending);
          } catch (thrown) {
            if (!(thrown instanceof ServiceError)) {
              oracle.violate("defect of the simulator", String(thrown));
              return;
            }
            error = thrown;
          }
        }
        if (effect === "twin" && answer !== undefined) registry.twin();
        if (effect === "elder" && call.operation === "instance.create") elderOf(call, registry);
        if (fate.loss !== undefined && error === undefined)
          error = failure(isWrite ? fate.loss : "unavailable", operation, isWrite, fate);
        if (fate.refusesAfter !== undefined && error === undefined)
          error = failure(fate.refusesAfter, operation, false, fate);
        if (effect === "exception-after" && error === undefined && gate === undefined) {
          schedule.after(latency(), world.service, () => throwing());
          return;
        }
        schedule.after(latency(), world.service, () => settle(error, answer));
      };
      if (effect === "late") {
        schedule.after(latency(), world.service, () => settle(failure("lost", operation, isWrite)));
        schedule.after(latency() + dice.next() * 3000, world.service, work);
      } else if (isSent) schedule.after(latency(), world.service, work);
      else {
        schedule.after(dice.scale(1000, 120_000), process, () => {
          isSent = true;
          schedule.after(latency(), world.service, work);
        });
      }
    });

  const travel: Travel = (call, isWrite, signal) => {
    if (isWrite && process.phase !== "applying") oracle.violate("write during plan", call.operation);
    const owner = world.shared?.owner;
    if (isWrite && owner !== undefined && owner !== process && !isSession(call))
      oracle.violate("sent without the lock", `${call.operation} by ${process.name}, not ${owner.name}`);
    return request(call, isWrite ? faultOn(call.operation) : faultOnRead(call), isWrite, signal);
  };
  const direct: Service = {
    profile,
    hide: (text) => text,
    offers: (operation) => Object.hasOwn(profile.operations, operation),
    date: () => date,
    read: (call, signal) => travel(call, false, signal),
    write: async (call, signal, unsent = signal, look = undefined) => {
      look?.();
      if (unsent.aborted) throw failure("aborted", call.operation, false, { wasSent: false });
      if (process.stopping.signal.aborted) oracle.violate("write after an interrupt", call.operation);
      return travel(call, true, signal);
    },
  };
  return {
    ...(gate === undefined
      ? direct
      : overTheWire({ profile, clock, gate, travel, oracle, process, date: shownDate(world) })),
    ping: (id) =>
      new Promise((resolve) => {
        const isFaulty = process.takeFault("ping") !== undefined;
        schedule.after(latency(), process, () => {
          const isUsable = !isFaulty && registry.at(id)?.look.status === "RUNNING";
          if (isUsable) oracle.answers(process, id);
          resolve(isUsable);
        });
      }),
  };
}

function isSession({ operation }: Call): boolean {
  return operation.startsWith("session.");
}

function faultOnRead(call: Call): Fault["on"] {
  if (isSession(call)) return "session";
  return call.operation.endsWith("list") ? "list" : "describe";
}

function faultOn(operation: string): Fault["on"] {
  const [, verb = ""] = operation.split(".");
  return verb === "create" || verb === "update" || verb === "delete" ? verb : "verb";
}

/** What an effect does to a request. */
interface Fate {
  /** Refused without work. */
  readonly refusal?: ServiceFailure;
  /** False: no work; otherwise work, whatever the answer. */
  readonly works?: false;
  /** What the sender is told of a write in place of the answer. */
  readonly loss?: ServiceFailure;
  /** The refusal that the sender is told although the request has worked. */
  readonly refusesAfter?: ServiceFailure;
  readonly status?: number;
  readonly retryAfter?: number;
  readonly ending?: Ending;
  /** False where the request never leaves. */
  readonly wasSent?: false;
}

const fates: { readonly [effect in Effect]?: Fate } & { readonly [effect: string]: Fate } = {
  "lost-before": { works: false, loss: "lost" },
  "lost-after": { loss: "lost" },
  twin: { loss: "lost" },
  elder: { works: false, loss: "lost" },
  "500-before": { works: false, loss: "lost", status: 500 },
  "500-after": { loss: "lost", status: 500 },
  "503-before": { works: false, loss: "lost", status: 503 },
  "503-after": { loss: "lost", status: 503 },
  "nonsense-before": { works: false, loss: "shape", status: 202 },
  "nonsense-after": { loss: "shape", status: 202 },
  unavailable: { refusal: "unavailable", wasSent: false },
  "invalid-after": { refusesAfter: "invalid", status: 400 },
  "forbidden-after": { refusesAfter: "forbidden", status: 403 },
  "unauthorized-after": { refusesAfter: "unauthorized", status: 401 },
  "busy-after": { refusesAfter: "busy", status: 409 },
  "rate-limited-after": { refusesAfter: "rate-limited", status: 429 },
  "rate-limited": { refusal: "rate-limited", status: 429 },
  "rate-limited-until": { refusal: "rate-limited", status: 429, retryAfter: 20_000 },
  forbidden: { refusal: "forbidden", status: 403 },
  unauthorized: { refusal: "unauthorized", status: 401 },
  busy: { refusal: "busy", status: 409 },
  fails: { ending: "fails" },
  sticks: { ending: "sticks" },
};

function failure(
  kind: ServiceFailure,
  operation: string,
  mayHaveWorked: boolean,
  { status, retryAfter, wasSent }: Pick<Fate, "status" | "retryAfter" | "wasSent"> = {},
): ServiceError {
  return new ServiceError(kind, operation, `${operation}: simulated (${kind})`, {
    mayHaveWorked,
    ...defined({ wasSent, status, retryAfter }),
  });
}

/** The service's clock as its answers show it: whole seconds. */
function serviceDate({ registry }: World): number {
  return Math.floor((registry.now() + registry.options.skew) / 1000) * 1000;
}

/** The `Date` of answers: writes and sign-ins are answered by the service itself, every other read by a cache. */
function shownDate(world: World): (request: Pick<WireRequest, "operation" | "isWrite">) => number {
  const age = world.registry.options.cacheAge ?? 0;
  let reads = 0;
  return ({ operation, isWrite }) => {
    const isCached = !isWrite && !operation.startsWith("session.") && reads++ % 2 === 1;
    return serviceDate(world) - (isCached ? age : 0);
  };
}

/** Somebody's object of the same looks, made a minute ago, that no list has shown so far. */
function elderOf({ params, body }: Call, registry: World["registry"]): void {
  const { requestParams, ...top } = objectOf(body);
  registry.bear({
    id: `instance-elder-${registry.things.length}-twin`,
    kind: "instances",
    place: `${params["productTierKey"]}/${params["resourceKey"]}`,
    look: { status: "RUNNING", top, params: { ...objectOf(requestParams), graphdbPassword: "theirs" } },
    seen: true,
    age: 60_000,
  });
}
