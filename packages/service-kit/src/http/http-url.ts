/** The address of one of our servers. An IPv6 host is put in brackets. */
export const httpUrl = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
