/** The part of database names that keeps each person's drafts and unsent messages apart. */
export const storageName = (user: string): string => `web-${user}`;
