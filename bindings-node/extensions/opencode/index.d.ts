/** LoopX in OpenCode: a `Plugin` of `@opencode-ai/plugin`, to be exported from a plugin file. */
export function LoopX(input: { client: any; directory: string; [more: string]: any }): Promise<Record<string, any>>;
