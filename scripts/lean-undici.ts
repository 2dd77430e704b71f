import type { Plugin } from "esbuild";

/**
 * Bundles of undici what the transport uses, without its fetch, its mocks, caches and web sockets: its index loads all
 * of them at once, and is CommonJS, so the bundler cannot tell. A build that imports anything else of it fails.
 */
export const leanUndici: Plugin = {
  name: "lean undici",
  setup({ initialOptions, onLoad, onResolve }) {
    const resolveDir = initialOptions.absWorkingDir ?? ".";
    const contents = 'export { default as Pool } from "undici/lib/dispatcher/pool.js";';
    onResolve({ filter: /^undici$/ }, () => ({ path: "undici", namespace: "lean" }));
    onLoad({ filter: /./, namespace: "lean" }, () => ({ contents, resolveDir }));
  },
};
