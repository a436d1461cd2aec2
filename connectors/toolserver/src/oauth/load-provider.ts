const said = 'oidc-provider WARNING: Unsupported runtime.';

/**
 * Loads what imports the authorization server's library. That library warns of every Node that is not yet a long-term release; which Node
 * runs here is pinned and tested, so this one line is left out. All else that is said goes on.
 */
export async function withoutRuntimeWarning<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  const output = console; // theirs is the only way to be told of it
  const { warn } = output;
  output.warn = (...parts: unknown[]) => {
    if (!String(parts[0]).includes(said)) warn.apply(output, parts);
  };
  try {
    return await load();
  } finally {
    output.warn = warn;
  }
}
