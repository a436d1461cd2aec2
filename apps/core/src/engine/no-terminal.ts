/** The problem of an engine without `terminal`. */
export const noTerminal = (id: string): { problem: string } => ({
  problem: `The engine ${id} has no terminal program.`,
});
