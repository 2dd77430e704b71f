import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import packaged, { inflate } from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";
import { temporaryFolder } from "./temporary-folder.ts";

const installed = process.env["GRAPHFORM_CHROMIUM"] ?? "/usr/bin/chromium";

/** Starts the Chromium that is installed here, or else the one of the development dependencies, with its files in a folder of its own. */
export async function openBrowser(): Promise<Browser> {
  const folder = temporaryFolder("browser");
  const { executablePath, env } = existsSync(installed)
    ? { executablePath: installed, env: {} }
    : await unpackInto(folder);
  // Pages are opened from files; a container's root has no sandbox.
  return chromium.launch({
    executablePath,
    chromiumSandbox: false,
    env: { ...process.env, TMPDIR: folder, ...env },
  });
}

/** Unpacks Chromium with the libraries and the font that a bare machine lacks. The package unpacks into the folder for temporary files. */
async function unpackInto(
  folder: string,
): Promise<{ readonly executablePath: string; readonly env: { readonly [name: string]: string } }> {
  const archives = join(fileURLToPath(import.meta.resolve("@sparticuz/chromium")), "../../bin");
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    const executablePath = await packaged.executablePath(archives);
    const libraries = await inflate(join(archives, "al2023.tar.br"));
    const fonts = join(folder, "fonts.conf");
    await writeFile(
      fonts,
      `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`,
    );
    return { executablePath, env: { LD_LIBRARY_PATH: join(libraries, "lib"), FONTCONFIG_FILE: fonts } };
  } finally {
    process.env["TMPDIR"] = before;
  }
}
