import type { ResourceCase } from "./case.ts";
import {
  account,
  adopted,
  apply,
  database,
  enterprise,
  network,
  service,
  stopped,
  user,
} from "./case-parts.ts";
import { objectOf } from "./registry.ts";
import type { Regression } from "./regressions.ts";

const large = (over: Partial<ResourceCase>): ResourceCase =>
  database(1, {}, { spec: enterprise(1), ...over });
const named = (over: Partial<ResourceCase> = {}): ResourceCase => {
  const { config, ...where } = enterprise(1);
  return { ...large(over), spec: { ...where, config: { ...objectOf(config), name: "db 1" } } };
};
/** A network that was there before, and a database in it. */
const shop = (name: string, graphdbUser: string): readonly ResourceCase[] => {
  const id = "network-before-a";
  const where = { id, cloudProvider: "aws", region: "us-east-1" };
  const { config, ...place } = enterprise(2);
  const settings = { ...objectOf(config), name: "db 2", graphdbUser };
  return [
    { address: "networks.a", tag: 1, importId: id, spec: { ...where, name }, onReplace: "recreate" },
    {
      address: "instances.a",
      tag: 2,
      spec: { ...place, network: "a", networkType: "INTERNAL", config: settings },
    },
  ];
};
const small: ResourceCase = {
  address: "instances.b",
  tag: 2,
  spec: {
    cloudProvider: "aws",
    region: "us-east-1",
    power: "running",
    tier: "free",
    component: "free",
    config: { graphdbUser: "app", graphdbPassword: "s3cret-2-1" },
  },
};
const resting = { ...stopped(database(1, { name: "db 1" })), protect: false };
const second = (config: ResourceCase["spec"]): ResourceCase =>
  database(2, config, { address: "instances.b" });
const west = (resource: ResourceCase): ResourceCase => ({
  ...resource,
  spec: { ...resource.spec, region: "eu-west-1" },
});
const other = west(database(4, {}, { spec: enterprise(4), onReplace: "recreate" }));
const saved = [{ ...account(2), onReplace: "recreate" as const }, adopted("networks.a")];
const kept = [named({ onReplace: "recreate" }), { ...small, address: "instances.moved3" }];

/** The object that was there before, under an address. */
function before(address: string): ResourceCase {
  const shape = { cloudProvider: "aws", region: "us-east-1", tier: "startup", component: "standalone" };
  const config = { graphdbPassword: "s3cret-900-1" };
  return { address, tag: 900, importId: "instance-before", spec: { ...shape, power: "running", config } };
}

/** Cases of runs that were cut off, of plans that were kept, and of what two addresses ask for. */
export const regressionsOfRuns: readonly Regression[] = [
  {
    was: "a password whose change could not be recorded was taken back in the manifest, and stayed changed",
    case: {
      seed: 103_754,
      service: service(),
      runs: [
        apply([large({}), user(2, "users.a")]),
        apply(
          [
            large({}),
            { ...user(2, "users.a"), spec: { ...user(2, "users.a").spec, password: "s3cret-2-4" } },
          ],
          {
            faults: [{ on: "state", nth: 2, effect: "unwritable" }],
          },
        ),
        apply([large({}), user(2, "users.a")]),
      ],
    },
  },
  {
    was: "the end of an update of a killed run was taken for that of the next one",
    case: {
      seed: 14_765,
      service: service({ stale: 2967, work: 16_831, listLag: 18_125, flicker: true, latency: 31 }),
      runs: [
        apply([resting, second({ name: "db 2" })], { rival: { at: 23, does: "plan", wait: 0 } }),
        apply([resting, second({ name: "db 3" })], {
          others: [{ at: 0, does: "start", pick: 4 }],
          later: 270,
        }),
        apply([resting, second({ name: "db 3", description: "text 4" })], {
          faults: [{ on: "state", nth: 2, effect: "unwritable" }],
          others: [],
          crash: 16,
          later: 88_498,
        }),
      ],
    },
  },
  {
    was: "what was started to be changed, in a run that was killed, ran on after the next one",
    case: {
      seed: 33_974,
      service: service({ work: 19_216 }),
      runs: [
        apply([database(1)]),
        apply([stopped(database(1))], { later: 895 }),
        apply([stopped(database(1, { name: "db 3" }))], { later: 61_022, crash: 9 }),
      ],
    },
  },
  {
    was: "a network that another address had asked for by its id was deleted for a replacement",
    case: {
      seed: 215_320,
      service: service(),
      runs: [
        apply([
          adopted("networks.a"),
          database(2, {}, { spec: { ...enterprise(2), network: "a", networkType: "INTERNAL" } }),
        ]),
        apply(
          [
            adopted("networks.moved3"),
            database(2, {}, { spec: { ...enterprise(2), network: "moved3", networkType: "INTERNAL" } }),
            network("networks.a", 4, { name: "net 4 5" }),
          ],
          { others: [{ at: 24, does: "rename", pick: 2 }] },
        ),
      ],
    },
  },
  {
    was: "a network that a database was to get later on was left out without a word",
    case: {
      seed: 238_183,
      service: service(),
      runs: [
        apply([large({})]),
        apply([
          network("networks.a", 3, { region: "eu-west-1" }),
          database(4, {}, { spec: { ...enterprise(4), network: "a", networkType: "INTERNAL" } }),
        ]),
      ],
    },
  },
  {
    was: "a saved plan that did not know the object of a killed run's create made another one",
    case: {
      seed: 232_971,
      service: service({ stale: 1418, latency: 166 }),
      runs: [
        apply([named(), small], { crash: 16 }),
        apply(kept, { plan: "save" }),
        apply(kept, { plan: "use", crash: 15 }),
      ],
    },
  },
  {
    was: "a saved plan bound a second object where a create had been found meanwhile",
    case: {
      seed: 296_932,
      service: service(),
      runs: [
        apply([network("networks.a", 1), account(2)], {
          faults: [{ on: "state", nth: 5, effect: "unwritable" }],
        }),
        apply(saved, { plan: "save" }),
        apply(saved, { plan: "use" }),
      ],
    },
  },
  {
    was: "a network that was let go of and found again by its name was called somebody else's, by the simulator",
    case: {
      seed: 255,
      service: service(),
      runs: [
        apply([{ ...network("networks.a", 3), onDelete: "retain" }]),
        { does: "destroy", resources: [], allowDestroy: ["networks.a"] },
        apply([{ ...network("networks.a", 3), onDelete: "retain" }]),
      ],
    },
  },
  {
    was: "a saved plan took what an earlier run had created with other values for its own, and let go of it",
    case: {
      seed: 2_007_660,
      service: service({ describeLag: 3057 }),
      runs: [
        apply([west(database(1, { name: "db 1", description: "first" }))], {
          faults: [{ on: "create", nth: 1, effect: "503-after" }],
          stop: 18,
        }),
        apply([other], { plan: "save" }),
        apply([other], { plan: "use" }),
      ],
    },
  },
  {
    was: "a backup that a killed run had begun was no reason to wait: the next run failed with busy",
    case: {
      seed: 65_542,
      service: service({ latency: 112, work: 16_056 }),
      runs: [
        apply([west(database(3, {}, { address: "instances.b" }))]),
        apply(
          [
            west(
              stopped(database(3, { graphdbUser: "app_6" }, { address: "instances.b", onDelete: "backup" })),
            ),
          ],
          { crash: 35, allowDestroy: ["instances.b"] },
        ),
      ],
    },
  },
  {
    was: "a value that came to be shown between the plan and its step, as it was applied, made the step stale",
    case: {
      seed: 40_236_183,
      service: service({ networks: false, latency: 70, stale: 3810, work: 4268 }),
      runs: [
        apply(shop("net 1 1", "app")),
        apply(shop("net 1 4", "app_3"), { allowDestroy: ["instances.a"], crash: 12, later: 78 }),
      ],
    },
  },
  {
    was: "a database that ran while its plan could not know, since a backup was under way, made its deletion stale",
    case: {
      seed: 40_394_461,
      service: service({
        networks: false,
        echo: false,
        listLag: 3759,
        describeLag: 1523,
        linger: 225,
        work: 735,
      }),
      runs: [
        apply([database(1)]),
        apply([{ ...stopped(small), address: "instances.a", onReplace: "recreate", onDelete: "backup" }], {
          allowDestroy: ["instances.a"],
          later: 26_244,
          crash: 17,
        }),
      ],
    },
  },
  {
    was: "a user was asked for without an end, in an instance that was deleted meanwhile and whose users were answered with 500",
    case: {
      seed: 31_775,
      service: service({ usersOfNobody: 500 }),
      runs: [
        apply([named(), user(2, "users.a")]),
        apply(
          [
            named({
              spec: {
                ...enterprise(1),
                config: { ...objectOf(enterprise(1)["config"]), graphdbUser: "app_3" },
              },
              protect: false,
              onReplace: "recreate",
            }),
            user(2, "users.a"),
          ],
          { others: [{ at: 0, does: "delete", pick: 2 }], plan: "use" },
        ),
      ],
    },
  },
  {
    was: "an object whose address was given to another declaration was bound twice, if the guards of that address changed too",
    case: {
      seed: 9_318_794,
      service: service(),
      runs: [
        apply([before("instances.a")]),
        apply([before("instances.moved3"), { ...database(4), address: "instances.a", protect: false }]),
      ],
    },
  },
];
