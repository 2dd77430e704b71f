/** @module The safety rules of the engine, and what it is like without each of them. */

import type * as recover from "../../src/apply/creates/recover-intents.ts";
import type * as creating from "../../src/apply/creates/send-create.ts";
import type * as stillMissing from "../../src/apply/creates/still-missing.ts";
import type * as waiting from "../../src/apply/engine/wait-for-operation.ts";
import type * as looking from "../../src/apply/engine/watch-missing.ts";
import type * as backups from "../../src/apply/evidence/backups.ts";
import type * as candidates from "../../src/apply/evidence/candidates.ts";
import type * as together from "../../src/apply/evidence/in-flight-together.ts";
import type * as evidence from "../../src/apply/evidence/operation.ts";
import type * as timeWindow from "../../src/apply/evidence/time-window.ts";
import type * as changing from "../../src/apply/operations/change.ts";
import type * as probing from "../../src/apply/probe-object.ts";
import type * as running from "../../src/apply/run.ts";
import type * as hostPace from "../../src/hosting/throttle/host-pace.ts";
import type * as exchange from "../../src/hosting/wire/exchange.ts";
import type * as consistency from "../../src/model/consistency.ts";
import type * as objectKey from "../../src/model/observed.ts";
import type * as single from "../../src/model/once.ts";
import { isSealed } from "../../src/model/sealed.ts";
import type * as serviceIdentity from "../../src/model/service-identity.ts";
import type * as missing from "../../src/plan/guards/missing.ts";
import type * as planGuards from "../../src/plan/guards/plan-guards.ts";
import type * as protection from "../../src/plan/guards/protection.ts";
import type * as ordering from "../../src/plan/order.ts";
import type * as replacement from "../../src/plan/replacement.ts";
import type * as reconcile from "../../src/reconcile/apply-plan.ts";
import type * as document from "../../src/state/document.ts";
import type * as journal from "../../src/state/journal.ts";
import type * as foldingLog from "../../src/state/state-log.ts";
import { type Mutation, without } from "./mutation.ts";
import { mutationsOfStores } from "./mutations-of-stores.ts";

const minute = 60_000;

/** One safety rule each. The simulator must find every one of them. */
export const mutations: readonly Mutation[] = [
  without<typeof serviceIdentity.serviceDifferences>(
    "any-service",
    214,
    "a state is used at the service that its ids are of",
    "model/service-identity.ts#serviceDifferences",
    () => () => [],
  ),
  without<typeof serviceIdentity.manifestDifference>(
    "any-manifest",
    162,
    "a state is used by the manifest that it belongs to",
    "model/service-identity.ts#manifestDifference",
    () => () => undefined,
  ),
  without<typeof objectKey.anotherObject>(
    "any-object-of-the-id",
    178,
    "an id that was given to another object is not that of the bound one",
    "model/observed.ts#anotherObject",
    () => () => undefined,
  ),
  without<typeof stillMissing.isThereAgain>(
    "forgotten-unseen",
    265,
    "what a plan took for gone is looked for once more before it is forgotten",
    "apply/creates/still-missing.ts#isThereAgain",
    () => async () => false,
  ),
  without<typeof journal.openJournal>(
    "no-intent",
    4,
    "the intent is durable before a create is sent",
    "state/journal.ts#openJournal",
    (open) => (store, initial, clock) => {
      const opened = open(store, initial, clock);
      return {
        ...opened,
        record: async (event) => {
          const recorded = opened.record(event);
          if (event.type === "create-announced") recorded.catch(() => undefined);
          else await recorded;
        },
      };
    },
  ),
  without<typeof journal.openJournal>(
    "late-acknowledgement",
    6,
    "the id is recorded the moment the answer arrives",
    "state/journal.ts#openJournal",
    (open) => (store, initial, clock) => {
      const opened = open(store, initial, clock);
      return {
        ...opened,
        record: async (event) => {
          if (event.type !== "create-acknowledged") return opened.record(event);
          clock
            .sleep(minute)
            .then(() => opened.record(event))
            .catch(() => undefined);
        },
      };
    },
  ),
  without<typeof foldingLog.foldLog>(
    "log-forgotten",
    5,
    "what happened since the document was written is read from its log",
    "state/state-log.ts#foldLog",
    () => (state) => state,
  ),
  without<typeof candidates.matchCandidates>(
    "lost-is-nothing",
    1,
    "a lost create is looked for before it is sent again",
    "apply/evidence/candidates.ts#matchCandidates",
    () => (_, lost) => ({ is: "matched", found: [], absent: lost.map(({ address }) => address) }),
  ),
  without<typeof consistency.gracePeriod>(
    "absent-at-once",
    110,
    "what is not shown may be hidden for a while",
    "model/consistency.ts#gracePeriod",
    () => () => "over",
  ),
  without<typeof evidence.isGoneAtOnce>(
    "gone-at-once",
    13,
    "what was not shown, or whose deletion was not taken, is gone only if that is proved",
    "apply/evidence/operation.ts#isGoneAtOnce",
    () => () => true,
  ),
  without<typeof looking.untilShownOrAbsent>(
    "one-look-at-the-parent",
    416,
    "open creates go with a parent, and a deletion is left out, only if absence is proved",
    "apply/engine/watch-missing.ts#untilShownOrAbsent",
    () =>
      async ({ kind, ref }, { drivers, stopping }) =>
        drivers.get(kind)?.get(ref, stopping),
  ),
  without<typeof consistency.isWhole>(
    "one-list-is-proof",
    191,
    "a list that lacks what describe shows proves nothing",
    "model/consistency.ts#isWhole",
    () => () => true,
  ),
  without<typeof consistency.isConfirmed>(
    "one-look-is-proof",
    179,
    "absence takes two looks that are apart",
    "model/consistency.ts#isConfirmed",
    () => (looks, testimony) => looks.some((look) => testimony(look) === "for"),
  ),
  without<typeof stillMissing.assertStillMissing>(
    "no-last-look",
    96,
    "what a plan took for gone is looked for once more before it is created again",
    "apply/creates/still-missing.ts#assertStillMissing",
    () => async () => undefined,
  ),
  without<typeof looking.isBlind>(
    "lost-rights-are-proof",
    236,
    "a service that shows nothing that is bound proves nothing of a lost create",
    "apply/engine/watch-missing.ts#isBlind",
    () => async () => false,
  ),
  without<typeof missing.everythingGoneHold>(
    "everything-goes",
    85,
    "nothing is made again if nothing that is bound is shown any more",
    "plan/guards/missing.ts#everythingGoneHold",
    () => () => undefined,
  ),
  without<typeof missing.everythingGoneHold>(
    "a-tier-goes",
    262,
    "nothing is made again if nothing that is bound of its tier is shown any more",
    "plan/guards/missing.ts#everythingGoneHold",
    (hold) => (changes, input) => (input.observed.size > 0 ? undefined : hold(changes, input)),
  ),
  without<typeof evidence.classifyUnconfirmedDeletion>(
    "not-found-is-deleted",
    179,
    "a deletion that was answered with 404, or not at all, is not taken for done",
    "apply/evidence/operation.ts#classifyUnconfirmedDeletion",
    () => () => ({ is: "accepted", value: undefined }),
  ),
  without<typeof creating.needsSearch>(
    "refusal-is-proof",
    81,
    "a refused create is looked for like a lost one",
    "apply/creates/send-create.ts#needsSearch",
    () => (error) => error.mayHaveWorked,
  ),
  without<typeof together.areInterchangeable>(
    "anything-is-interchangeable",
    112,
    "objects are exchanged only where an update can bring each to the other's spec",
    "apply/evidence/in-flight-together.ts#areInterchangeable",
    () => () => true,
  ),
  without<typeof together.differingPaths>(
    "exchanged-as-they-are",
    48,
    "an object that may be another create's is brought to its own spec",
    "apply/evidence/in-flight-together.ts#differingPaths",
    () => () => [],
  ),
  without<typeof timeWindow.timeliness>(
    "any-time",
    412,
    "an object is a lost create's only if the service's own times prove it",
    "apply/evidence/time-window.ts#timeliness",
    () => () => "within",
  ),
  without<typeof candidates.couldBe>(
    "anything-could-be-it",
    309,
    "what is adopted shows nothing that speaks against it",
    "apply/evidence/candidates.ts#couldBe",
    () => () => true,
  ),
  without<typeof candidates.matchCandidates>(
    "first-of-several",
    1075,
    "where more objects could be the lost ones than were lost nothing is guessed",
    "apply/evidence/candidates.ts#matchCandidates",
    (match) =>
      (given, lost, ...rest) => {
        const matching = match(given, lost, ...rest);
        if (matching.is !== "ambiguous") return matching;
        const found = lost.flatMap(({ address }, at) => {
          const live = matching.found[at];
          return live === undefined ? [] : [{ address, live, unsure: [] }];
        });
        return { is: "matched", found, absent: lost.slice(found.length).map(({ address }) => address) };
      },
  ),
  without<typeof consistency.isCurrent>(
    "first-running",
    309,
    "an unchanged status counts only after the settling time",
    "model/consistency.ts#isCurrent",
    () => () => true,
  ),
  without<typeof running.refusalToStart>(
    "guards-ignored",
    5,
    "a blocked step is not carried out",
    "apply/run.ts#refusalToStart",
    (refusal) => (step, prerequisites, isStopping) =>
      refusal({ ...step, blocked: [] }, prerequisites, isStopping),
  ),
  without<typeof running.refusalToStart>(
    "stop-ignored",
    169,
    "after Ctrl-C nothing new is begun",
    "apply/run.ts#refusalToStart",
    (refusal) => (step, prerequisites) => refusal(step, prerequisites, false),
  ),
  without<typeof running.otherBinding>(
    "rebound",
    276,
    "a step is for the object that its plan was made for",
    "apply/run.ts#otherBinding",
    () => () => undefined,
  ),
  without<typeof running.otherGuards>(
    "guards-since",
    275,
    "a saved plan deletes nothing whose guards have changed since",
    "apply/run.ts#otherGuards",
    () => () => undefined,
  ),
  without<typeof protection.isProtected>(
    "guard-in-the-block",
    41,
    "a guard outlives its block in the manifest",
    "plan/guards/protection.ts#isProtected",
    (isProtected) => (subject, input) => subject.desired !== undefined && isProtected(subject, input),
  ),
  without<typeof protection.guardsToRemember>(
    "guard-lifted-by-the-way",
    49,
    "what was held back leaves the remembered guards as they were",
    "plan/guards/protection.ts#guardsToRemember",
    (guards) => (_, subject, input) => guards({ blocked: [] }, subject, input),
  ),
  without<typeof replacement.replacementGuard>(
    "replaced-unasked",
    28,
    "what holds data is replaced only where somebody says so",
    "plan/replacement.ts#replacementGuard",
    () => () => undefined,
  ),
  without<typeof evidence.isStale>(
    "no-precondition",
    211,
    "a step is refused where its decision no longer holds",
    "apply/evidence/operation.ts#isStale",
    () => () => false,
  ),
  without<typeof waiting.waitForOperation>(
    "released-while-going",
    6,
    "a binding is released only once its object is gone",
    "apply/engine/wait-for-operation.ts#waitForOperation",
    (waitFor) =>
      async (step, ref, operation, ...rest) =>
        operation === "delete" ? { result: "done", id: ref.id } : waitFor(step, ref, operation, ...rest),
  ),
  without<typeof waiting.waitForOperation>(
    "timeout-lets-go",
    30,
    "a timeout ends the waiting and nothing else",
    "apply/engine/wait-for-operation.ts#waitForOperation",
    (waitFor) =>
      async (step, ...rest) => {
        const end = await waitFor(step, ...rest);
        const [, , , context] = rest;
        if (end.result === "converging")
          await context.journal.record({ type: "released", address: step.address });
        return end;
      },
  ),
  without<typeof waiting.waitForOperation>(
    "failed-let-go",
    92,
    "what has failed stays bound, and is neither replaced nor forgotten",
    "apply/engine/wait-for-operation.ts#waitForOperation",
    (waitFor) =>
      async (step, ...rest) => {
        const end = await waitFor(step, ...rest);
        const [, , , context] = rest;
        if (end.result === "failed")
          await context.journal.record({ type: "released", address: step.address });
        return end;
      },
  ),
  without<typeof changing.recordOf>(
    "secret-recorded",
    1,
    "secrets are recorded as fingerprints",
    "apply/operations/change.ts#recordOf",
    (recordOf) => (spec, context) =>
      Object.fromEntries(
        Object.entries(recordOf(spec, context)).map(([path, value]) => [
          path,
          isSealed(value) ? (context.open(value) ?? value) : value,
        ]),
      ),
  ),
  without<typeof recover.recoverIntents>(
    "intents-left-open",
    89,
    "the next run resolves open intents before it plans",
    "apply/creates/recover-intents.ts#recoverIntents",
    () => async () => ({ found: 0, doubts: new Map() }),
  ),
  without<typeof single.singleFlight>(
    "everybody-signs-in",
    1,
    "a session is renewed once for all who wait",
    "model/once.ts#singleFlight",
    () => (work) => work,
  ),
  without<typeof exchange.serviceDates>(
    "cached-date",
    2179,
    "the time of the service is the newest that an answer has shown",
    "hosting/wire/exchange.ts#serviceDates",
    () => () => {
      let last: number | undefined;
      return {
        see: (_, headers) => {
          last = Date.parse(String(headers["date"]));
        },
        newest: () => last,
      };
    },
  ),
  without<typeof hostPace.refused>(
    "pause-of-one",
    8,
    "a Retry-After slows everybody down, not only the one who got it",
    "hosting/throttle/host-pace.ts#refused",
    (refused) => (host, refusal, now) => refused(host, { ...refusal, retryAfter: 0 }, now),
  ),
  without<typeof reconcile.withoutNewWrites>(
    "writes-go-on",
    46,
    "what waits to be sent when the run is interrupted is not sent",
    "reconcile/apply-plan.ts#withoutNewWrites",
    () => (service) => service,
  ),
  without<typeof document.isPlanApplied>(
    "plan-twice",
    11,
    "a saved plan runs once",
    "state/document.ts#isPlanApplied",
    () => () => false,
  ),
  without<typeof planGuards.emptyManifestHold>(
    "empty-manifest",
    35,
    "an empty manifest is refused where the state is not empty",
    "plan/guards/plan-guards.ts#emptyManifestHold",
    () => () => undefined,
  ),
  without<typeof planGuards.deletesHold>(
    "no-threshold",
    279,
    "no more is destroyed than the thresholds allow",
    "plan/guards/plan-guards.ts#deletesHold",
    () => () => undefined,
  ),
  without<typeof protection.isBackedUpFirst>(
    "no-backup",
    57,
    "what is to be backed up first is not deleted without",
    "plan/guards/protection.ts#isBackedUpFirst",
    () => () => false,
  ),
  without<typeof backups.leastComplete>(
    "backup-unseen",
    133,
    "a backup counts once it is seen complete",
    "apply/evidence/backups.ts#leastComplete",
    (least) => (made) => {
      const found = least(made);
      return found && { ...found, is: "completed" };
    },
  ),
  without<typeof backups.madeBy>(
    "old-backup",
    369,
    "a backup counts that the service's own times prove to be the one that was asked for",
    "apply/evidence/backups.ts#madeBy",
    () => (listed) => ({ certain: listed, unclear: [] }),
  ),
  without<typeof evidence.evaluateArrival>(
    "failed-is-done",
    92,
    "FAILED is no success",
    "apply/evidence/operation.ts#evaluateArrival",
    (evaluate) =>
      (...given) => {
        const found = evaluate(...given);
        return found?.is === "failed" && found.live.phase.is === "failed"
          ? { is: "arrived", live: found.live }
          : found;
      },
  ),
  without<typeof probing.untilUsable>(
    "not-pinged",
    1,
    "a database is usable once it answers",
    "apply/probe-object.ts#untilUsable",
    () => async () => undefined,
  ),
  without<typeof evidence.classifyUnconfirmedChange>(
    "lost-is-done",
    610,
    "an update whose answer was lost is not taken for done",
    "apply/evidence/operation.ts#classifyUnconfirmedChange",
    () => () => ({ is: "accepted", value: undefined }),
  ),
  without<typeof ordering.removals>(
    "wrong-order",
    212,
    "what holds others goes after them",
    "plan/order.ts#removals",
    () => () => [],
  ),
  without<typeof ordering.renewals>(
    "hasty-replacement",
    101_070,
    "what a new object needs is there before the old one is deleted",
    "plan/order.ts#renewals",
    () => () => [],
  ),
  ...mutationsOfStores,
];
