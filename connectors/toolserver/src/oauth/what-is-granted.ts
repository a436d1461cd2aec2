/** What a token lets its holder do: ask. */
export const scope = 'ask';
/** Who approves is always the operator of this machine; whom a token speaks for follows from its client. */
export const operatorAccount = 'operator';
