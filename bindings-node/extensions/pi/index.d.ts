/** LoopX in Pi: what Pi calls with its `ExtensionAPI` when it loads the extension. */
declare function loopxInPi(pi: any): void;
export = loopxInPi;
