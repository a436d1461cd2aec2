/** All engines in order of preference; the one without a model comes last. */
export const engineNames = ['claude', 'codex', 'gemini', 'offline'] as const;
export type EngineName = (typeof engineNames)[number];

/** The vendors' variables for the folders of transcripts and logins, if these are not the default ones. */
export const engineHomeNames = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME'] as const;

export type EngineTraits = {
  /** The names under which its key is looked up: ours, then the vendor's variable. Null for an engine without a key. */
  keyNames: { own: string; vendor: string } | null;
  /** The arguments with which its program logs in. Null if it has no login that other programs may use. */
  loginArgs: readonly string[] | null;
  /** Whether it speaks the Responses protocol, so that it can use the operator's own model server, or OpenRouter. */
  takesEndpoint: boolean;
};

/** The differences between engines. No other code compares their names, except for `offline`, which needs nothing. */
export const engineTraits: Record<EngineName, EngineTraits> = {
  claude: { keyNames: null, loginArgs: ['auth', 'login'], takesEndpoint: false },
  codex: {
    keyNames: { own: 'SVC_CODEX_API_KEY', vendor: 'OPENAI_API_KEY' },
    loginArgs: ['login'],
    takesEndpoint: true,
  },
  gemini: {
    keyNames: { own: 'SVC_GEMINI_API_KEY', vendor: 'GEMINI_API_KEY' },
    loginArgs: null, // its vendor allows the login only in its own program
    takesEndpoint: false,
  },
  offline: { keyNames: null, loginArgs: null, takesEndpoint: false },
};

/** True for an engine without a login that is used with a key. False for an unknown id. */
export function isUsedByKey(id: string): boolean {
  const name = engineNames.find((one) => one === id);
  return name !== undefined && engineTraits[name].keyNames !== null && engineTraits[name].loginArgs === null;
}

/** The engine that uses the operator's own model server. */
export const endpointEngine: EngineName = engineNames.find((name) => engineTraits[name].takesEndpoint) ?? 'offline';
