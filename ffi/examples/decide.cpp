// The same question as decide.c, with a handle and texts that free themselves.
//
//     c++ -std=c++17 decide.cpp $(pkg-config --cflags --libs loopx) -o decide
//     ./decide ada
#include <loopx.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct Free {
    void operator()(char *text) const { loopx_free(text); }
    void operator()(loopx_handle *handle) const { loopx_close(handle); }
};
using Text = std::unique_ptr<char, Free>;

// What a call was refused with: its class, and the error's JSON as the message.
class Refusal : public std::runtime_error {
public:
    Refusal(loopx_status status, const char *error) : std::runtime_error(error), status(status) {}
    loopx_status status;
};

class Kernel {
public:
    explicit Kernel(const std::string &options)
    {
        loopx_handle *opened = nullptr;
        char *error = nullptr;
        const loopx_status status = loopx_open(options.c_str(), &opened, &error);
        const Text owned(error);
        handle.reset(opened);
        if (status != LOOPX_STATUS_OK)
            throw Refusal(status, error);
    }

    std::string call(const std::string &operation, const std::string &request) const
    {
        char *answer = nullptr, *error = nullptr;
        const loopx_status status =
            loopx_call(handle.get(), operation.c_str(), request.c_str(), &answer, &error);
        const Text owned_answer(answer), owned_error(error);
        if (status != LOOPX_STATUS_OK)
            throw Refusal(status, error);
        return answer;
    }

private:
    std::unique_ptr<loopx_handle, Free> handle;
};

} // namespace

int main(int count, char **words)
{
    const std::string agent = count == 2 ? words[1] : "";
    if (agent.empty() || agent.find_first_of("\"\\\n") != std::string::npos) {
        std::cerr << "usage: decide AGENT\n";
        return 2;
    }
    try {
        const Kernel kernel("{}");
        const std::string answer =
            kernel.call("quota.should_run", "{\"agent_id\": \"" + agent + "\"}");
        std::cout << answer << '\n';
        return answer.find("\"should_run\":true") != std::string::npos ? 0 : 3;
    } catch (const Refusal &refusal) {
        std::cerr << refusal.what() << '\n';
        return 1;
    }
}
