// The client of the official SDK: an optional package, loaded when the first server with MCP tools starts.
import { ConfigError } from '../../../base/errors.js';

export type McpSdk = typeof import('@modelcontextprotocol/client');

export const MCP_PACKAGE = '@modelcontextprotocol/client';

/** @throws ConfigError when it is not installed */
export async function loadMcpSdk(
  importPackage: () => Promise<McpSdk> = async () => await import('@modelcontextprotocol/client'),
): Promise<McpSdk> {
  try {
    return await importPackage();
  } catch (cause) {
    throw new ConfigError(
      'CONFIG_MISSING',
      `mcp() needs the package ${MCP_PACKAGE}: npm install ${MCP_PACKAGE}`,
      { cause },
    );
  }
}
