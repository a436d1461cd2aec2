/** The version this driver is written and tested for. `--legacy-peer-deps` leaves out 60 MB that the package has inlined. */
export const pin = {
  package: '@anthropic-ai/claude-agent-sdk',
  version: '0.3.329',
  installArgs: ['--legacy-peer-deps'] as readonly string[],
};
