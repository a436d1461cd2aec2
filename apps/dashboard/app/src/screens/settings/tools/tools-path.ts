export const toolsPath = '/core/v2/mcp';
