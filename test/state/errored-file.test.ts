import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, it, vi } from "vitest";
import {
  type ErroredFiles,
  type ErroredState,
  erroredText,
  openErroredFiles,
} from "../../src/state/errored-file.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sampleState } from "./samples.ts";

const errored: ErroredState = { where: "s3://b/shop", state: sampleState(), follows: ["d"], created: [] };
const later: ErroredState = { ...errored, created: [{ address: "instances.a", id: "instance-1" }] };

async function bench(): Promise<{
  readonly folder: string;
  readonly file: string;
  readonly files: ErroredFiles;
}> {
  vi.stubEnv("TMPDIR", temporaryFolder("state"));
  const folder = join(temporaryFolder("state"), ".graphform");
  const file = join(folder, "shop.errored.state.json");
  return { folder, file, files: openErroredFiles(file, "shop") };
}

const contents = async (files: ErroredFiles): Promise<readonly unknown[]> =>
  (await files.find()).map(({ content }) => (content instanceof Error ? content.message : content.created));

it("replaces its own file, and none that another run has left", async () => {
  const { file, files } = await bench();
  expect(await files.find()).toEqual([]);
  const own = await files.write(errored, undefined);
  expect(own).toBe(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await files.write(later, own)).toBe(own);
  const second = await files.write(errored, undefined);
  expect(basename(second)).toBe(`${process.pid}.shop.errored.state.json`);
  expect(await contents(files)).toEqual([[], later.created]);
  await files.remove(own);
  expect(await contents(files)).toEqual([[]]);
});

it("reads what a killed run has written whole and not renamed, and passes over what it has not", async () => {
  const { folder, file, files } = await bench();
  await files.write(later, undefined);
  await rename(file, `${file}.0123456789abcdef.tmp`);
  await writeFile(`${file}.fedcba9876543210.tmp`, erroredText(later).slice(0, 100));
  expect(await contents(files)).toEqual([later.created]);
  await files.write(errored, undefined);
  expect(await readdir(folder)).toContain(basename(file));
});

it("passes over files of other manifests, and what is not readable in the folder for temporary files", async () => {
  const { folder, file, files } = await bench();
  await files.write(errored, undefined);
  await writeFile(join(folder, "big-shop.errored.state.json"), "{}");
  await writeFile(`${file}.old`, "{}");
  await writeFile(join(process.env["TMPDIR"] ?? "", "7.shop.errored.state.json"), "of somebody else");
  expect(await contents(files)).toEqual([[]]);
  await writeFile(file, "{}");
  expect(await contents(files)).toEqual([`${file} is not a state that a run could not store`]);
});

it("says no secret: the key of the fingerprints is left out once something with it is stored", async () => {
  const { key } = sampleState();
  const { file, files } = await bench();
  await files.write(errored, undefined);
  expect(await readFile(file, "utf8")).not.toContain(key);
  expect(erroredText({ ...errored, follows: [null] })).toContain(key);
});
