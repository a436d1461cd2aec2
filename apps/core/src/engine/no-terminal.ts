/** Of an engine that has no `terminal`. */
export const noTerminal = (id: string): { problem: string } => ({
  problem: `The engine ${id} has no program that a person works with in a terminal.`,
});
