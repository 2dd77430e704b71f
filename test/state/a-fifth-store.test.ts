import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { environmentPage } from "../../scripts/environment-page.ts";
import { pipelineNeeds } from "../../src/commands/init/pipelines.ts";
import { stateFaults } from "../../src/manifest/header.ts";
import { stateShape } from "../../src/manifest/schema/document-shape.ts";
import type { StoreDescription } from "../../src/model/stores/store-description.ts";
import { addressOf, locationAt, sectionOf } from "../../src/project/locate-state.ts";
import { openStore } from "../../src/project/open-store.ts";
import { settingsOf } from "../../src/project/settings.ts";
import type { StateDriver } from "../../src/state/remote/driver.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A store that keeps states on shelves: all that is written for it but its driver. */
const { shelves, opened } = vi.hoisted(() => {
  const shelves: StoreDescription<{ readonly type: string; readonly shelf: string }> = {
    place: "a shelf",
    keys: {
      shelf: {
        type: "string",
        description: "shelves: the shelf.",
        form: { pattern: /^[a-z]+$/, is: "letters" },
      },
    },
    required: ["shelf"],
    variables: {
      SHELF_TOKEN: { about: "Token for a state on a shelf.", isSecret: true },
    },
    ...{
      schemes: ["shelf"],
      spelling: "shelf://SHELF",
      parameters: [],
      refusesStaleWrites: true,
      locksExpire: true,
    },
    readAddress: ({ hostname }) => ({ shelf: hostname }),
    locate: ({ shelf }) => ({ type: "shelves", shelf: String(shelf ?? "") }),
    address: ({ shelf }) => `shelf://${shelf}`,
    source: () => "SHELF_TOKEN",
    clock: () => undefined,
    pipeline: () => ({ secrets: ["SHELF_TOKEN"] }),
  };
  return { shelves, opened: [] as unknown[] };
});
vi.mock(import("../../src/model/stores/index.ts"), async (original) => {
  const module = await original();
  Object.assign(module.stores, { shelves });
  return module;
});
// The file of its driver, which is found by its name.
vi.mock("/src/state/remote/shelves/shelves-driver.ts", async () => {
  const { memoryBackend, memoryDriver } = await import("./stores/memory-driver.ts");
  const backend = memoryBackend(() => Date.now());
  const openDriver = (location: unknown): StateDriver => {
    opened.push(location);
    return memoryDriver(backend);
  };
  return { openDriver };
});

const header = { name: "shop", state: { type: "shelves", shelf: "top" } };
const environment = { SHELF_TOKEN: "hunter2222" };

it("adds a store by its description and one line in the list of stores: schema, problems, documents, pipelines and addresses", async () => {
  expect(stateShape.properties).toMatchObject({
    type: { enum: expect.arrayContaining(["shelves"]), description: expect.stringContaining("or a shelf.") },
    shelf: { type: "string", description: "shelves: the shelf." },
  });
  expect(stateShape.properties?.["shelf"]).not.toHaveProperty("form");
  expect(stateFaults({ type: "shelves" })).toMatchObject([{ fault: { code: "missing-key" } }]);
  expect(stateFaults({ type: "s3", bucket: "states", shelf: "top" })).toMatchObject([
    { fault: { message: expect.stringContaining("belongs to a state of type shelves") } },
  ]);
  expect(environmentPage()).toContain("| `SHELF_TOKEN` | Token for a state on a shelf. |");
  expect((await pipelineNeeds("state: { type: shelves, shelf: top }", "github")).secrets).toContain(
    "SHELF_TOKEN",
  );
  const location = locationAt("shelf://top", "shop");
  expect([addressOf(location), sectionOf(location)]).toEqual([
    "shelf://top",
    'state:\n  type: shelves\n  shelf: "top"\n',
  ]);
  expect(() => locationAt("shelf:top", "shop")).toThrow("is neither a URL of a state nor clearly a path");
  expect(() => locationAt("shelf://7", "shop")).toThrow("its shelf must be letters");
});

it("hides its secrets, and opens its driver with the first request", async () => {
  const settings = settingsOf(environment);
  expect(settings.secrets.hide("the token is hunter2222")).not.toContain("hunter2222");
  const location = locationAt("shelf://top", "shop");
  const store = openStore(location, settings, { header, folder: temporaryFolder("store") });
  expect([store.where, opened]).toEqual(["shelf://top", []]);
  expect(await store.read()).toBeUndefined();
  expect(opened).toEqual([location]);
});

it("takes the two places of the checklist besides the driver, and the page has a row and a column for every store", () => {
  const root = join(import.meta.dirname, "../..");
  const page = readFileSync(join(root, "docs/stores.md"), "utf8");
  const checklist = page.slice(page.indexOf("## Adding a store"));
  const places = [
    "src/state/remote/NAME/NAME-driver.ts",
    "src/model/stores/NAME.ts",
    "src/model/stores/index.ts",
  ];
  for (const place of places) expect(checklist).toContain(place);
  const importers = globSync("src/**/*.ts", { cwd: root }).filter((path) =>
    /(?:stores|\.|remote)\/s3(?:\.ts|\/)/.test(readFileSync(join(root, path), "utf8")),
  );
  expect(importers.filter((path) => !path.startsWith("src/state/remote/s3/"))).toEqual([
    "src/model/stores/index.ts",
  ]);
  for (const type of ["http", "s3", "postgres"]) expect(page).toContain(`| ${type} |`);
});
