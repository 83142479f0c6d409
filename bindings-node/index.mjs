import loopx from "./index.cjs";

export const { Kernel, LoopSession, LoopxError, nativeReport, version } = loopx;
export default loopx;
