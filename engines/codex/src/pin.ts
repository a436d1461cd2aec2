/** The version this driver is written and tested for. The app-server's protocol moves weekly: raise it with the tests. */
export const pin = { package: '@openai/codex', version: '0.169.0', installArgs: [] as readonly string[] };
