/**
 * The version for which this driver is written and tested. Much of the driver relies on the behaviour of this version: raise it together
 * with the tests. The optional native parts are for an interactive terminal.
 */
export const pin = {
  package: '@google/gemini-cli',
  version: '0.61.0',
  installArgs: ['--omit=optional'] as readonly string[],
};

/** The model behind the program's alias `flash`, which every key may use. The program's own choice would cost one more request per turn. */
export const defaultModel = 'gemini-3.8-flash';

/** Models to choose from, the default first. Any other id of the vendor can be set too. */
export const models = [
  defaultModel,
  'gemini-3.5-flash-lite',
  'gemini-3.1-pro-preview',
  'gemini-2.5-pro',
  'gemini-2.5-flash',
] as const;

/** The cheapest model that every key may use: enough to name a conversation. */
export const titleModel = 'gemini-3.5-flash-lite';
