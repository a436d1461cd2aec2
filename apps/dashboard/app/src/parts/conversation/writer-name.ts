/** Of the databases of this browser that keep what this person has written. */
export const writerName = (user: string): string => `web-${user}`;
