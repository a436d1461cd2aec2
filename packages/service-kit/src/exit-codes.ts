/** Exit codes a supervisor can tell apart: a bad setting does not get better by trying again. */
export const exitCodes = { ok: 0, failed: 1, badSettings: 78, portInUse: 69 } as const;
