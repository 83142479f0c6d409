"use strict";

const { Kernel, LoopSession } = require("./lib/kernel.cjs");
const { LoopxError } = require("./lib/error.cjs");
const { nativeReport } = require("./lib/native.cjs");
const { version } = require("./package.json");

module.exports = { Kernel, LoopSession, LoopxError, nativeReport, version };
