import type { Plugin } from "esbuild";

/**
 * Bundles of undici what the transport uses, without its fetch, its mocks, caches and web sockets: its index loads all
 * of them at once, and is CommonJS, so the bundler cannot tell. A build that imports anything else of it fails. HTTP/2,
 * which loads all of TLS with it, and the bodies of fetch throw where they are reached: the transport asks for neither.
 */
export const leanUndici: Plugin = {
  name: "lean undici",
  setup({ initialOptions, onLoad, onResolve }) {
    const resolveDir = initialOptions.absWorkingDir ?? ".";
    const contents = 'export { default as Agent } from "undici/lib/dispatcher/agent.js";';
    const absent = 'module.exports = () => { throw new Error("this part of undici is not bundled"); };';
    // What undici itself asks before it loads an experimental second parser.
    initialOptions.define = { ...initialOptions.define, esbuildDetection: "true" };
    onResolve({ filter: /^undici$/ }, () => ({ path: "undici", namespace: "lean" }));
    onLoad({ filter: /./, namespace: "lean" }, () => ({ contents, resolveDir }));
    onLoad({ filter: /undici[\\/]lib[\\/](dispatcher[\\/]client-h2|web[\\/].*)\.js$/ }, () => ({
      contents: absent,
    }));
  },
};
